"""What waits for a person in a program: partners to pay, commissions to approve, flags, provisional leads."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import ColumnElement, Connection, func, select

from storage.lists.balances import to_pay_cents
from storage.lists.commissions import net_cents
from storage.lists.held import is_first, is_held, is_held_by
from storage.rules.commission import CommissionStatus
from storage.rules.fraud.flag import FlagState
from storage.rules.settlement import CustomerStatus, Settlement
from storage.tables import commissions, customers, flags, partners


class Waiting(NamedTuple):
    """How many wait, and what they are worth in cents of the program's currency."""

    number: int = 0
    cents: int = 0


class PendingWork(NamedTuple):
    """Partners to pay, pending commissions whose hold is over, and apart what open flags hold; `flags` counts these."""

    to_pay: Waiting
    ready: Waiting
    flags: int
    held: Waiting
    provisional_leads: int


def get_pending_work(connection: Connection, program_id: int, *, at: datetime) -> PendingWork:
    """Return what waits in a program."""
    earned, row, mine = commissions.c, customers.c, commissions.c.program_id == program_id
    is_ready = (earned.status == CommissionStatus.PENDING, earned.hold_until <= at, ~is_held())
    open_flags = (flags.c.program_id == program_id, flags.c.state == FlagState.OPEN, is_first())
    provisional = (row.status == CustomerStatus.PROVISIONAL, row.settlement == Settlement.PROVISIONAL)
    flag_count = connection.execute(select(func.count()).select_from(flags).where(*open_flags)).scalar_one()
    leads = select(func.count()).select_from(customers).where(row.program_id == program_id, *provisional)
    due = select(to_pay_cents().label("cents")).where(partners.c.program_id == program_id).subquery()
    to_pay = select(func.count(), func.coalesce(func.sum(due.c.cents), 0)).where(due.c.cents > 0)
    return PendingWork(
        to_pay=Waiting(*map(int, connection.execute(to_pay).one())),
        ready=count_worth(connection, mine, *is_ready),
        flags=flag_count,
        held=count_worth(connection, mine, is_held(flags.c.state == FlagState.OPEN)) if flag_count else Waiting(),
        provisional_leads=connection.execute(leads).scalar_one(),
    )


def count_held(connection: Connection, program_id: int, flag_ids: Sequence[int]) -> Waiting:
    """Return what these flags hold, each commission once."""
    return count_worth(connection, commissions.c.program_id == program_id, is_held_by(*flag_ids))


def count_worth(connection: Connection, *conditions: ColumnElement[bool]) -> Waiting:
    """Return how many commissions match, and what they are worth."""
    worth = select(func.count(), func.coalesce(func.sum(net_cents()), 0)).select_from(commissions)
    return Waiting(*map(int, connection.execute(worth.where(*conditions)).one()))
