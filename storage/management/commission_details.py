"""One commission with what it follows from: its sale, the terms that priced it, and its ledger entries."""

from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, select

from storage.lists.commissions import COMMISSIONS, Commission
from storage.lists.declaration import ListScope
from storage.lists.find import get
from storage.rules.commission import CommissionType, Terms
from storage.tables import commission_terms, ledger_entries, sales
from storage.tables import commissions as earned
from storage.tracking.ledger import EntryKind


class LedgerLine(NamedTuple):
    """A ledger entry of a commission, in cents of its currency; `refund_id` is the id of the refund behind it."""

    id: int
    at: datetime
    kind: EntryKind
    amount_cents: int
    refund_id: int | None


class CommissionDetails(NamedTuple):
    """A commission; `sale` is None for a lead's. The terms hold since `terms_since`."""

    commission: Commission
    terms: Terms
    terms_since: datetime
    sale: Any
    entries: list[LedgerLine]


def get_details(connection: Connection, program_id: int, commission_id: int, *, at: datetime) -> CommissionDetails:
    """Return one commission of a program. Raises NotFound."""
    commission = get(connection, COMMISSIONS, ListScope(program_id, at), commission_id)
    version = select(earned.c.terms_version).where(earned.c.program_id == program_id, earned.c.id == commission_id)
    priced = (commission_terms.c.program_id == program_id, commission_terms.c.version == version.scalar_subquery())
    row = connection.execute(select(commission_terms).where(*priced)).one()
    later = (row.recurring_months, row.platform_fee_bps, row.minimum_order_cents)
    terms = Terms(row.version, CommissionType(row.commission_type), row.rate, row.lead_commission_cents, *later)
    mine = (sales.c.program_id == program_id, sales.c.id == commission.sale_id)
    sale = None if commission.sale_id is None else connection.execute(select(sales).where(*mine)).one()
    return CommissionDetails(commission, terms, row.created_at, sale, _entries(connection, program_id, commission_id))


def _entries(connection: Connection, program_id: int, commission_id: int) -> list[LedgerLine]:
    entry = ledger_entries.c
    columns = (entry.id, entry.at, entry.kind, entry.amount_cents, entry.refund_id)
    mine = (entry.program_id == program_id, entry.commission_id == commission_id)
    rows = connection.execute(select(*columns).where(*mine).order_by(entry.id))
    return [LedgerLine(row.id, row.at, EntryKind(row.kind), int(row.amount_cents), row.refund_id) for row in rows]
