"""What waits for a person in a program: commissions to approve, holds that end soon, flags, provisional leads."""

from datetime import datetime, timedelta
from typing import NamedTuple

from sqlalchemy import ColumnElement, Connection, and_, func, select

from storage.lists.commissions import net_cents
from storage.lists.held import is_first, is_held
from storage.rules.commission import CommissionStatus
from storage.rules.fraud.flag import FlagState
from storage.rules.settlement import CustomerStatus, Settlement
from storage.tables import commissions, customers, flags

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
    earned, mine = commissions.c, commissions.c.program_id == program_id
    free = and_(mine, earned.status == CommissionStatus.PENDING, ~is_held())
    soon = and_(free, earned.hold_until > at, earned.hold_until <= at + SOON)
    open_flags = (flags.c.program_id == program_id, flags.c.state == FlagState.OPEN, is_first())
    row = customers.c
    provisional = (row.status == CustomerStatus.PROVISIONAL, row.settlement == Settlement.PROVISIONAL)
    flag_count = connection.execute(select(func.count()).select_from(flags).where(*open_flags)).scalar_one()
    leads = select(func.count()).select_from(customers).where(row.program_id == program_id, *provisional)
    return PendingWork(
        ready=count_worth(connection, free, earned.hold_until <= at),
        soon=count_worth(connection, soon),
        next_hold_ends_at=connection.execute(select(func.min(earned.hold_until)).where(soon)).scalar(),
        flags=flag_count,
        held=count_worth(connection, mine, is_held(flags.c.state == FlagState.OPEN)) if flag_count else Waiting(),
        provisional_leads=connection.execute(leads).scalar_one(),
    )


def count_worth(connection: Connection, *conditions: ColumnElement[bool]) -> Waiting:
    """Return how many commissions match, and what they are worth."""
    worth = select(func.count(), func.coalesce(func.sum(net_cents()), 0)).select_from(commissions)
    return Waiting(*map(int, connection.execute(worth.where(*conditions)).one()))
