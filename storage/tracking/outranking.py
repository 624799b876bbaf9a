"""A lead or sale with the program key takes its customer_key from a customer whom a browser named (decision 0023)."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection, select, tuple_, update

from storage.rules.commission import CommissionStatus
from storage.rules.settlement import CustomerStatus, Settlement
from storage.tables import commissions, leads
from storage.tracking.corrections import Corrections
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


def store(connection: Connection, outranked: Sequence[Outranked], *, at: datetime) -> list[Increment]:
    """Mark the leads of the claims and take back the commissions on them; return what this adds to the rollups."""
    steps: list[Increment] = []
    marked_leads: list[tuple[int, int]] = []
    for claimant, by in sorted(outranked, key=lambda each: (each.claimant.program_id, each.claimant.id)):
        settled = (leads.c.customer_id == claimant.id, leads.c.settlement == Settlement.SETTLED)
        marked = {"settlement": Settlement.OUTRANKED, "outranked_by": by.id, "outranked_at": at}
        statement = update(leads).where(leads.c.program_id == claimant.program_id, *settled).values(**marked)
        lead_id = connection.execute(statement.returning(leads.c.id)).scalar_one()
        marked_leads.append((claimant.program_id, lead_id))
        assert claimant.signup_at is not None  # noqa: S101 - a browser names a customer as it settles their lead
        steps.append(Increment(claimant.program_id, claimant.partner_id, claimant.signup_at.date(), leads=-1))
    if marked_leads:
        row = commissions.c
        mine = tuple_(row.program_id, row.lead_id).in_(marked_leads)
        earned = select(commissions).where(mine).order_by(row.program_id, row.id).with_for_update()
        rows = connection.execute(earned).all()
        unpaid = update(commissions).where(mine, row.status != CommissionStatus.PAID)
        connection.execute(unpaid.values(status=CommissionStatus.REJECTED))
        corrections = Corrections(connection, rows)
        for each in rows:
            is_paid = each.status == CommissionStatus.PAID
            steps.append(corrections.take_back(each, EntryKind.REVERSAL if is_paid else EntryKind.REJECTION))
        corrections.save(at=at)
    return steps
