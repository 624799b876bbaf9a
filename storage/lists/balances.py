"""What a program owes its partners, and what they owe it back, in cents of the program's currency."""

from collections.abc import Sequence
from datetime import date, datetime
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, ColumnElement, Connection, FromClause, Select, and_, bindparam, case, func, select

from storage.engine.statements import read_statement
from storage.lists.declaration import NOW, PROGRAM
from storage.lists.held import is_held
from storage.rules.commission import CommissionStatus
from storage.tables import commissions, ledger_entries, partners
from storage.tables.columns import DAY_MILLIS, from_millis, stored_millis
from storage.tracking import corrections
from storage.tracking.ledger import ACCOUNT_KINDS, PARTNER_KINDS, EntryKind


class Balance(NamedTuple):
    """A partner's balance in cents of the program's currency: earnings are the first four less `owed_back_cents`.

    `pending_cents` is on hold (`on_hold_cents`) or to approve now (`ready_cents`). `flagged_cents` is what flags keep
    from approval or payment: it is in no other figure. `owed_back_cents` is what refunds of paid commissions left
    owing; the next payouts are reduced by it, and `to_pay_cents` is what is left to pay now of what is approved.
    """

    pending_cents: int = 0
    flagged_cents: int = 0
    approved_cents: int = 0
    paid_cents: int = 0
    owed_back_cents: int = 0
    ready_cents: int = 0
    on_hold_cents: int = 0
    to_pay_cents: int = 0
    next_hold_ends_at: datetime | None = None
    last_hold_ends_at: datetime | None = None


class Hold(NamedTuple):
    """The worth of the pending commissions whose hold ends on a day (UTC), and which can be approved then."""

    until: date
    cents: int


class PaymentDay(NamedTuple):
    """What was paid on a day (UTC), and to how many partners."""

    paid_on: date
    partners: int
    cents: int


MOST_HOLDS = 31
EVERY = ledger_entries.c.program_id == PROGRAM
_PAYMENT_DAYS = read_statement("payment_days")


def of_partners(
    connection: Connection, program_id: int, partner_ids: Sequence[int], *, at: datetime
) -> dict[int, Balance]:
    """Return the balance of each of these partners."""
    of = {"program_id": program_id, "partner_ids": partner_ids, "now": at}
    found = {partner_id: Balance(*figures) for partner_id, *figures in connection.execute(_OF_PARTNERS, of)}
    return {each: found.get(each, Balance()) for each in partner_ids}


def summed(earned_until: Any = None, entries: Any = EVERY) -> tuple[FromClause, dict[str, ColumnElement[Any]]]:
    """Return the table of what some ledger entries make partners due, and the figures of it as columns, by name.

    They are those of a balance; `commission_cents`, what is approved of so many `commissions`, only of those that were
    earned before a time if one is given; and `settled_cents`, what the partner is owed besides, or owes if negative.
    """
    row = _summed_by_figure(earned_until).where(entries).subquery().c
    names = ("on_hold", CommissionStatus.PENDING, CommissionStatus.APPROVED, "flagged", "settled")
    sums = [func.sum(row.cents).filter(row.figure == each) for each in names]
    counted = func.sum(row.commissions).filter(row.figure == CommissionStatus.APPROVED)
    numbers = [each.cast(BigInteger) for each in (*sums, -func.sum(row.paid_cents), counted)]
    ends = [each.filter(row.figure == "on_hold") for each in (func.min(row.first_hold), func.max(row.last_hold))]
    theirs = select(row.partner_id, *numbers, *ends).group_by(row.partner_id).subquery("due")
    _, *found, next_hold, last_hold = theirs.c
    on_hold, ready, approved, flagged, settled, paid, commissions = (func.coalesce(each, 0) for each in found)
    return theirs, {
        "pending_cents": on_hold + ready,
        "flagged_cents": flagged,
        "approved_cents": approved + _at_least_0(settled),
        "paid_cents": paid,
        "owed_back_cents": _at_least_0(-settled),
        "ready_cents": ready,
        "on_hold_cents": on_hold,
        "to_pay_cents": _at_least_0(approved + settled),
        "next_hold_ends_at": next_hold,
        "last_hold_ends_at": last_hold,
        "commission_cents": approved,
        "commissions": commissions,
        "settled_cents": settled,
    }


def _at_least_0(cents: ColumnElement[Any]) -> ColumnElement[Any]:
    return case((cents > 0, cents), else_=0)


def _summed_by_figure(earned_until: Any) -> Select[Any]:
    """Return the statement of each partner's sums by figure, the paid part, when holds end, and of how many."""
    entry, earned, hold_ends_at = ledger_entries.c, commissions.c, commissions.c.hold_until
    # what is approved and was earned later is a figure of its own
    later = [] if earned_until is None else [(earned.created_at >= earned_until, "later")]
    figure = case(
        (corrections.is_settled(), "settled"),
        (is_held(), "flagged"),
        ((earned.status == CommissionStatus.PENDING) & (hold_ends_at > NOW), "on_hold"),
        (earned.status == CommissionStatus.PENDING, CommissionStatus.PENDING),
        *later,
        else_=earned.status,
    )
    paid = case((entry.kind.in_((EntryKind.PAYOUT, EntryKind.SET_OFF)), entry.amount_cents), else_=0)
    cents = (func.sum(entry.amount_cents).label("cents"), func.sum(paid).label("paid_cents"))
    holds = (func.min(hold_ends_at).label("first_hold"), func.max(hold_ends_at).label("last_hold"))
    theirs = case((earned.partner_id == entry.partner_id, earned.id))  # not those that moved to another partner
    counted = func.count(theirs.distinct()).label("commissions")
    mine = (entry.program_id == PROGRAM, entry.kind.in_(ACCOUNT_KINDS))
    each = select(entry.partner_id, figure.label("figure"), *cents, *holds, counted).where(*mine)
    return each.select_from(corrections.with_commissions()).group_by(entry.partner_id, "figure")


_sums, _figures = summed(entries=ledger_entries.c.partner_id.in_(bindparam("partner_ids", expanding=True)))
_OF_PARTNERS = select(_sums.c.partner_id, *(_figures[name] for name in Balance._fields))


def to_pay_cents() -> ColumnElement[Any]:
    """Return the column of what to pay each of the rows of partners: what is approved and free, and what is settled."""
    entry = ledger_entries.c
    is_due = and_(commissions.c.status == CommissionStatus.APPROVED, ~is_held()) | corrections.is_settled()
    theirs = (entry.program_id == partners.c.program_id, entry.partner_id == partners.c.id)
    total = select(_at_least_0(func.sum(entry.amount_cents))).select_from(corrections.with_commissions())
    return total.where(*theirs, entry.kind.in_(ACCOUNT_KINDS), is_due).correlate(partners).scalar_subquery()


def next_holds(connection: Connection, program_id: int, partner_id: int | None = None, *, at: datetime) -> list[Hold]:
    """Return when the next holds end of a program or a partner, soonest first; what flags hold is left out."""
    earned, entry = commissions.c, ledger_entries.c
    day = stored_millis(earned.hold_until) // DAY_MILLIS
    held = (earned.status == CommissionStatus.PENDING, earned.hold_until > at, entry.kind.in_(PARTNER_KINDS))
    mine = [entry.program_id == program_id, *([] if partner_id is None else [entry.partner_id == partner_id])]
    sums = select(day.label("day"), func.sum(entry.amount_cents).label("cents"))
    free = sums.select_from(corrections.with_commissions()).where(*mine, *held, ~is_held())
    rows = connection.execute(free.group_by(day).order_by(day).limit(MOST_HOLDS))
    return [Hold(from_millis(row.day * DAY_MILLIS).date(), int(row.cents)) for row in rows]


def list_payment_days(connection: Connection, program_id: int) -> list[PaymentDay]:
    """Return the days on which a program paid, the newest ones first."""
    rows = connection.execute(_PAYMENT_DAYS, {"program_id": program_id, "most": MOST_HOLDS})
    return [PaymentDay(from_millis(day * DAY_MILLIS).date(), partners, int(cents)) for day, partners, cents in rows]
