"""Outranking: a lead or sale with the program key takes its customer_key from a customer whom a browser alone named.

docs/decisions/0023-the-key-outranks-a-browser.md says when and why.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection, select, update

from storage.rules.commission import CommissionStatus
from storage.rules.settlement import CustomerStatus, Settlement
from storage.tables import commissions, leads
from storage.tracking import ledger, rollups
from storage.tracking.customers import Customer
from storage.tracking.ledger import EntryKind
from storage.tracking.rollups import Increment


class Outranked(NamedTuple):
    """A browser's claim, whose customer is still as it was, that loses its customer_key to the customer `by`."""

    claimant: Customer
    by: Customer

    @property
    def loser(self) -> Customer:
        """The claimant without the key, whose lead no longer counts."""
        return self.claimant._replace(
            customer_key=None, settlement=Settlement.OUTRANKED, status=CustomerStatus.PROVISIONAL, signup_at=None
        )


def store(connection: Connection, outranked: Sequence[Outranked], *, at: datetime) -> Iterator[Increment]:
    """Mark the leads of the claims and take back the commissions on them; yield what this takes out of the rollups."""
    for claimant, by in outranked:
        settled = (leads.c.customer_id == claimant.id, leads.c.settlement == Settlement.SETTLED)
        marked = {"settlement": Settlement.OUTRANKED, "outranked_by": by.id, "outranked_at": at}
        statement = update(leads).where(leads.c.program_id == claimant.program_id, *settled).values(**marked)
        lead_id = connection.execute(statement.returning(leads.c.id)).scalar_one()
        assert claimant.signup_at is not None  # noqa: S101 - a browser names a customer as it settles their lead
        day = rollups.day_of(claimant.signup_at)
        yield Increment(claimant.program_id, claimant.partner_id, day, leads=-1)
        yield from _take_back(connection, claimant.program_id, lead_id, at)


def _take_back(connection: Connection, program_id: int, lead_id: int, at: datetime) -> Iterator[Increment]:
    """Reject the commission on a lead; of a paid one, reverse what was paid."""
    mine = (commissions.c.program_id == program_id, commissions.c.lead_id == lead_id)
    commission = connection.execute(select(commissions).where(*mine).with_for_update()).one_or_none()
    if commission is None:
        return
    if commission.status == CommissionStatus.PAID:
        yield ledger.take_back(connection, commission, EntryKind.REVERSAL, at=at)
    else:
        connection.execute(update(commissions).where(*mine).values(status=CommissionStatus.REJECTED))
        yield ledger.take_back(connection, commission, EntryKind.REJECTION, at=at)
