"""A lead or sale with the program key takes its customer_key from a customer whom a browser named (decision 0023)."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection, select, tuple_, update

from storage.engine.statements import Statement
from storage.rules.commission import CommissionStatus
from storage.rules.settlement import CustomerStatus, Settlement
from storage.tables import commissions
from storage.tables.columns import to_millis
from storage.tracking.corrections import Corrections
from storage.tracking.customers import Customer
from storage.tracking.ledger import EntryKind
from storage.tracking.rollups import Increment

_mark = Statement("lead_outrank")


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
    if not outranked:
        return []
    claims = sorted((each.program_id, each.id, by.id, to_millis(at)) for each, by in outranked)
    lead_ids = [(lead.program_id, lead.id) for lead in _mark(connection, claims)]
    row = commissions.c
    mine = tuple_(row.program_id, row.lead_id).in_(lead_ids)
    earned = select(commissions).where(mine).order_by(row.program_id, row.id).with_for_update()
    rows = connection.execute(earned).all()
    unpaid = update(commissions).where(mine, row.status != CommissionStatus.PAID)
    connection.execute(unpaid.values(status=CommissionStatus.REJECTED))
    corrections = Corrections(connection, rows)
    counted = ((each, each.signup_at.date()) for each, _ in outranked if each.signup_at)
    steps = [Increment(each.program_id, each.partner_id, day, leads=-1) for each, day in counted]
    for each in rows:
        is_paid = each.status == CommissionStatus.PAID
        steps.append(corrections.take_back(each, EntryKind.REVERSAL if is_paid else EntryKind.REJECTION))
    corrections.save(at=at)
    return steps
