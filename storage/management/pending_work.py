"""What waits for a person in a program: commissions to approve, holds that end soon, flags, provisional leads."""

from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, and_, case, func, or_, select

from storage.lists.held import is_first, is_held
from storage.rules.commission import CommissionStatus
from storage.rules.fraud.flag import FlagState
from storage.rules.settlement import CustomerStatus, Settlement
from storage.tables import commissions, customers, flags, ledger_entries
from storage.tracking.ledger import PARTNER_KINDS, EntryKind

SOON = timedelta(days=7)


class Waiting(NamedTuple):
    """How many wait, and what they are worth in cents of the program's currency."""

    number: int = 0
    cents: int = 0


class PendingWork(NamedTuple):
    """Pending commissions whose hold is over, those whose hold ends within 7 days, and apart what open flags hold.

    `flags` counts the flags themselves, `next_hold_ends_at` is the first end of a hold.
    """

    ready: Waiting
    soon: Waiting
    next_hold_ends_at: datetime | None
    flags: int
    held: Waiting
    provisional_leads: int


def get_pending_work(connection: Connection, program_id: int, *, at: datetime) -> PendingWork:
    """Return what waits in a program."""
    earned = commissions.c
    is_over, is_soon = earned.hold_until <= at, and_(earned.hold_until > at, earned.hold_until <= at + SOON)
    ready, soon, next_hold_ends_at = _pending(connection, program_id, is_over, is_soon)
    open_flags = (flags.c.program_id == program_id, flags.c.state == FlagState.OPEN, is_first())
    row = customers.c
    provisional = (row.status == CustomerStatus.PROVISIONAL, row.settlement == Settlement.PROVISIONAL)
    flag_count = connection.execute(select(func.count()).select_from(flags).where(*open_flags)).scalar_one()
    leads = select(func.count()).select_from(customers).where(row.program_id == program_id, *provisional)
    return PendingWork(
        ready=ready,
        soon=soon,
        next_hold_ends_at=next_hold_ends_at,
        flags=flag_count,
        held=_held(connection, program_id) if flag_count else Waiting(),
        provisional_leads=connection.execute(leads).scalar_one(),
    )


def _pending(
    connection: Connection, program_id: int, is_over: ColumnElement[bool], is_soon: ColumnElement[bool]
) -> tuple[Waiting, Waiting, datetime | None]:
    earned = commissions.c
    sums = [each for condition in (is_over, is_soon) for each in _count_and_cents(condition)]
    next_hold = func.min(case((is_soon, earned.hold_until)))
    is_free = (earned.status == CommissionStatus.PENDING, ~is_held())
    mine = (earned.program_id == program_id, *is_free, or_(is_over, is_soon))
    row = connection.execute(select(*sums, next_hold).select_from(_with_entries()).where(*mine)).one()
    return Waiting(*map(int, row[:2])), Waiting(*map(int, row[2:4])), row[4]


def _held(connection: Connection, program_id: int) -> Waiting:
    """Return what open flags hold of the commissions that could be approved or paid."""
    earned = commissions.c
    mine = (earned.program_id == program_id, is_held(flags.c.state == FlagState.OPEN))
    sums = _count_and_cents(earned.program_id == program_id)
    return Waiting(*map(int, connection.execute(select(*sums).select_from(_with_entries()).where(*mine)).one()))


def _count_and_cents(condition: ColumnElement[bool]) -> list[ColumnElement[Any]]:
    """Return the columns of how many commissions match, each of which has one first entry, and of their worth."""
    entry = ledger_entries.c
    is_first = and_(condition, entry.kind == EntryKind.COMMISSION)
    columns = (case((is_first, 1), else_=0), case((condition, entry.amount_cents), else_=0))
    return [func.coalesce(func.sum(column), 0) for column in columns]


def _with_entries() -> Any:
    earned, entry = commissions.c, ledger_entries.c
    theirs = (entry.program_id == earned.program_id) & (entry.commission_id == earned.id)
    return commissions.join(ledger_entries, theirs & entry.kind.in_(PARTNER_KINDS))
