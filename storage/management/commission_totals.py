"""What leads and sales earned in a span, after refunds and rejections, in cents of the program's currency."""

from typing import NamedTuple

from sqlalchemy import Connection, case, func, select

from storage.engine import pagination
from storage.rules.periods.period import Span
from storage.tables import commissions, ledger_entries
from storage.tracking.ledger import PARTNER_KINDS


class CommissionByCause(NamedTuple):
    """Commission by what earned it."""

    lead_cents: int
    sale_cents: int


def by_cause(connection: Connection, program_id: int, span: Span) -> CommissionByCause:
    """Return what the leads and the sales earned whose commissions were created in a span."""
    earned, entry = commissions.c, ledger_entries.c
    causes = (earned.lead_id.is_not(None), earned.lead_id.is_(None))
    sums = [func.coalesce(func.sum(case((cause, entry.amount_cents), else_=0)), 0) for cause in causes]
    theirs = (entry.program_id == earned.program_id) & (entry.commission_id == earned.id)
    mine = (earned.program_id == program_id, *pagination.within(earned.id, earned.created_at, span))
    total = select(*sums).join_from(commissions, ledger_entries, theirs & entry.kind.in_(PARTNER_KINDS)).where(*mine)
    return CommissionByCause(*map(int, connection.execute(total).one()))
