"""What a program owes its partners, and what they owe it back, in cents of the program's currency."""

from collections.abc import Sequence
from datetime import date, datetime
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, ColumnElement, Connection, case, func, select, type_coerce

from storage.rules.commission import CommissionStatus
from storage.tables import commissions, ledger_entries, partners
from storage.tables.columns import from_millis
from storage.tracking import payouts
from storage.tracking.ledger import ACCOUNT_KINDS, PARTNER_KINDS, EntryKind


class PartnerBalance(NamedTuple):
    """A partner's balance: earnings are pending + on_hold + approved + paid - owed_back.

    `pending_cents` is ready to approve, `paid_cents` what payouts handed over. `owed_back_cents` is what refunds of
    paid commissions left owing; the next payouts are reduced by it, and `to_pay_cents` is what is left to pay now.
    """

    pending_cents: int = 0
    on_hold_cents: int = 0
    approved_cents: int = 0
    paid_cents: int = 0
    owed_back_cents: int = 0
    next_hold_ends_at: datetime | None = None
    last_hold_ends_at: datetime | None = None

    @property
    def to_pay_cents(self) -> int:
        """Return what to pay for all approved commissions, less what the partner owes back."""
        return max(self.approved_cents - self.owed_back_cents, 0)


class Hold(NamedTuple):
    """The worth of the commissions whose hold ends on a day (UTC)."""

    until: date
    cents: int


DAY_MILLIS = 86_400_000
MOST_HOLDS = 31
NO_BALANCE = PartnerBalance()


def of_partners(
    connection: Connection, program_id: int, partner_ids: Sequence[int], *, at: datetime
) -> dict[int, PartnerBalance]:
    """Return the balance of each of these partners."""
    entry, status, held = ledger_entries.c, commissions.c.status, commissions.c.hold_until > at
    sums = {
        "pending": (status == CommissionStatus.PENDING) & ~held,
        "on_hold": (status == CommissionStatus.PENDING) & held,
        "approved": status == CommissionStatus.APPROVED,
        "paid": entry.kind.in_((EntryKind.PAYOUT, EntryKind.SET_OFF)),
        "settled": payouts.is_settled(),
    }
    totals = [func.sum(case((which, entry.amount_cents), else_=0)).label(name) for name, which in sums.items()]
    mine = (entry.program_id == program_id, entry.partner_id.in_(partner_ids), entry.kind.in_(ACCOUNT_KINDS))
    held_until = case(((status == CommissionStatus.PENDING) & held, commissions.c.hold_until))
    totals += [func.min(held_until).label("next_hold"), func.max(held_until).label("last_hold")]
    joined = select(entry.partner_id, *totals).select_from(payouts.with_commissions())
    balances = dict.fromkeys(partner_ids, NO_BALANCE)
    for row in connection.execute(joined.where(*mine).group_by(entry.partner_id)):
        settled = int(row.settled)
        balances[row.partner_id] = PartnerBalance(
            pending_cents=int(row.pending),
            on_hold_cents=int(row.on_hold),
            approved_cents=int(row.approved) + max(settled, 0),
            paid_cents=-int(row.paid),
            owed_back_cents=max(-settled, 0),
            next_hold_ends_at=row.next_hold,
            last_hold_ends_at=row.last_hold,
        )
    return balances


def to_pay_cents() -> ColumnElement[Any]:
    """Return the column of what to pay each of the rows of partners: approved commissions and what is settled."""
    entry = ledger_entries.c
    is_due = (commissions.c.status == CommissionStatus.APPROVED) | payouts.is_settled()
    theirs = (entry.program_id == partners.c.program_id, entry.partner_id == partners.c.id)
    due = func.sum(entry.amount_cents)
    total = select(case((due > 0, due), else_=0)).select_from(payouts.with_commissions())
    return total.where(*theirs, entry.kind.in_(ACCOUNT_KINDS), is_due).correlate(partners).scalar_subquery()


def next_holds(connection: Connection, program_id: int, partner_id: int, *, at: datetime) -> list[Hold]:
    """Return when a partner's next holds end, soonest first."""
    earned, entry = commissions.c, ledger_entries.c
    day = type_coerce(earned.hold_until, BigInteger) // DAY_MILLIS
    held = (earned.status == CommissionStatus.PENDING, earned.hold_until > at, entry.kind.in_(PARTNER_KINDS))
    mine = (entry.program_id == program_id, entry.partner_id == partner_id)
    sums = select(day.label("day"), func.sum(entry.amount_cents).label("cents"))
    daily = sums.select_from(payouts.with_commissions()).where(*mine, *held).group_by(day).order_by(day)
    rows = connection.execute(daily.limit(MOST_HOLDS))
    return [Hold(from_millis(row.day * DAY_MILLIS).date(), int(row.cents)) for row in rows]
