"""What a program owes its partners, and what they owe it back, in cents of the program's currency."""

from collections.abc import Sequence
from datetime import date, datetime
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Select, and_, bindparam, case, func, select, true

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
_PAYMENT_DAYS = read_statement("payment_days")


def of_partners(
    connection: Connection, program_id: int, partner_ids: Sequence[int], *, at: datetime
) -> dict[int, Balance]:
    """Return the balance of each of these partners."""
    found: dict[int, dict[str, Any]] = {each: {} for each in partner_ids}
    of = {"program_id": program_id, "partner_ids": partner_ids, "now": at}
    for partner_id, name, *sums in connection.execute(_OF_PARTNERS, of):
        found[partner_id][name] = sums
    return {partner_id: _balance(figures) for partner_id, figures in found.items()}


def summed_by_figure(earned_until: datetime | None = None) -> Select[Any]:
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
    theirs = case((earned.partner_id == entry.partner_id, earned.id))  # not those that moved to another partner
    counted = func.count(theirs.distinct()).label("commissions")
    columns = (figure.label("figure"), *cents, func.min(hold_ends_at), func.max(hold_ends_at), counted)
    mine = (entry.program_id == PROGRAM, entry.kind.in_(ACCOUNT_KINDS))
    summed = select(entry.partner_id, *columns).select_from(corrections.with_commissions()).where(*mine)
    return summed.group_by(entry.partner_id, "figure")


_OF_PARTNERS = summed_by_figure().where(ledger_entries.c.partner_id.in_(bindparam("partner_ids", expanding=True)))


def _balance(figures: dict[str, Any]) -> Balance:
    """Return a balance by the sums of what is settled, flagged, on hold, pending and approved."""
    nothing = (0, 0, None, None)
    settled, paid, *_ = figures.get("settled", nothing)
    flagged, on_hold, ready, approved = (
        int(figures.get(name, nothing)[0])
        for name in ("flagged", "on_hold", CommissionStatus.PENDING, CommissionStatus.APPROVED)
    )
    approved = approved + max(int(settled), 0)
    owed_back = max(-int(settled), 0)
    return Balance(
        pending_cents=on_hold + ready,
        flagged_cents=flagged,
        approved_cents=approved,
        paid_cents=-int(paid),
        owed_back_cents=owed_back,
        ready_cents=ready,
        on_hold_cents=on_hold,
        to_pay_cents=max(approved - owed_back, 0),
        next_hold_ends_at=figures.get("on_hold", nothing)[2],
        last_hold_ends_at=figures.get("on_hold", nothing)[3],
    )


def to_pay_cents() -> ColumnElement[Any]:
    """Return the column of what to pay each of the rows of partners: what is approved and free, and what is settled."""
    entry = ledger_entries.c
    is_due = and_(commissions.c.status == CommissionStatus.APPROVED, ~is_held()) | corrections.is_settled()
    theirs = (entry.program_id == partners.c.program_id, entry.partner_id == partners.c.id)
    due = func.sum(entry.amount_cents)
    total = select(case((due > 0, due), else_=0)).select_from(corrections.with_commissions())
    return total.where(*theirs, entry.kind.in_(ACCOUNT_KINDS), is_due).correlate(partners).scalar_subquery()


def next_holds(connection: Connection, program_id: int, partner_id: int | None = None, *, at: datetime) -> list[Hold]:
    """Return when the next holds end of a program or a partner, soonest first; what flags hold is left out."""
    earned, entry = commissions.c, ledger_entries.c
    day = stored_millis(earned.hold_until) // DAY_MILLIS
    held = (earned.status == CommissionStatus.PENDING, earned.hold_until > at, entry.kind.in_(PARTNER_KINDS))
    mine = (entry.program_id == program_id, true() if partner_id is None else entry.partner_id == partner_id)
    sums = select(day.label("day"), func.sum(entry.amount_cents).label("cents"))
    free = sums.select_from(corrections.with_commissions()).where(*mine, *held, ~is_held())
    rows = connection.execute(free.group_by(day).order_by(day).limit(MOST_HOLDS))
    return [Hold(from_millis(row.day * DAY_MILLIS).date(), int(row.cents)) for row in rows]


def list_payment_days(connection: Connection, program_id: int) -> list[PaymentDay]:
    """Return the days on which a program paid, the newest ones first."""
    rows = connection.execute(_PAYMENT_DAYS, {"program_id": program_id, "most": MOST_HOLDS})
    return [PaymentDay(from_millis(day * DAY_MILLIS).date(), partners, int(cents)) for day, partners, cents in rows]
