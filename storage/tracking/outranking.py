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
from storage.tracking.customers import Customer, Registry
from storage.tracking.ledger import EntryKind
from storage.tracking.rollups import Increment


class Outranked(NamedTuple):
    """A browser's claim that lost its customer_key to the customer `by`; it counted as a lead at `signup_at`."""

    customer: Customer
    by: Customer
    signup_at: datetime


def outrank(claimant: Customer, by: Customer, registry: Registry) -> Outranked:
    """Take the key from the claimant, whose lead no longer counts."""
    assert claimant.signup_at is not None  # noqa: S101 - a browser names a customer as it settles their lead
    outranked = Outranked(claimant, by, claimant.signup_at)
    registry.release(claimant)
    claimant.settlement, claimant.status, claimant.signup_at = Settlement.OUTRANKED, CustomerStatus.PROVISIONAL, None
    return outranked


def outrank_by_sale(claimant: Customer, by: Customer, registry: Registry) -> Outranked:
    """Move the key from the claimant to the customer of the sale's click, whom the sale confirms."""
    customer_key = str(claimant.customer_key)
    outranked = outrank(claimant, by, registry)
    registry.name(by, customer_key)
    by.confirmed = True
    return outranked


def store(connection: Connection, outranked: Sequence[Outranked], *, at: datetime) -> Iterator[Increment]:
    """Mark the leads of the claims and take back the commissions on them; yield what this takes out of the rollups."""
    for each in outranked:
        customer = each.customer
        settled = (leads.c.customer_id == customer.id, leads.c.settlement == Settlement.SETTLED)
        marked = {"settlement": Settlement.OUTRANKED, "outranked_by": each.by.id, "outranked_at": at}
        statement = update(leads).where(leads.c.program_id == customer.program_id, *settled).values(**marked)
        lead_id = connection.execute(statement.returning(leads.c.id)).scalar_one()
        day = rollups.day_of(each.signup_at)
        yield Increment(customer.program_id, customer.partner_id, day, leads=-1)
        yield from _take_back(connection, customer.program_id, lead_id, at)


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
