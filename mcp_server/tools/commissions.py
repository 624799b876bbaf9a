"""list_commissions: the commissions of partners and their status."""

from datetime import datetime

from mcp_server.arguments import Cursor, Limit, RowId, Timestamp, span_of
from mcp_server.results import Result, RowPage, page
from mcp_server.sanitize import Untrusted
from mcp_server.tools.tool import ToolRequest, tool
from storage.engine.pagination import Paging
from storage.management import commissions
from storage.management.commissions import Commission
from storage.rules.commission import CommissionStatus
from storage.rules.scope import Scope


class CommissionRow(Result):
    """A commission: `amount_cents` as earned, `net_cents` after refunds and a rejection.

    `paid_out_cents`: its payout; `taken_back_since_cents`: what refunds took back after it.
    """

    id: int
    partner_id: int
    partner_name: Untrusted
    customer_id: int
    customer_key: Untrusted | None = None
    transaction_id: Untrusted | None = None
    amount_cents: int
    net_cents: int
    currency: str
    status: str
    created_at: datetime
    hold_until: datetime
    paid_at: datetime | None = None
    paid_out_cents: int | None = None
    taken_back_since_cents: int | None = None


@tool("Commissions", Scope.COMMISSIONS_READ)
def list_commissions(
    request: ToolRequest,
    *,
    program_id: int,
    limit: Limit = 25,
    cursor: Cursor | None = None,
    status: CommissionStatus | None = None,
    partner_id: RowId | None = None,
    customer_id: RowId | None = None,
    date_from: Timestamp | None = None,
    date_to: Timestamp | None = None,
    paid_from: Timestamp | None = None,
    paid_to: Timestamp | None = None,
) -> RowPage[CommissionRow]:
    """Commissions: amount_cents as earned, net_cents after refunds or rejection. pending is approved after hold_until,
    unless a flag holds it. No transaction_id: by a lead. What was paid when, and taken back since: paid_from,
    paid_to. For sums use get_performance or get_partner.
    """
    stored = commissions.list_commissions(
        request.connection,
        program_id,
        Paging(limit, cursor),
        status=status,
        partner_id=partner_id,
        customer_id=customer_id,
        created=span_of(date_from, date_to),
        paid=span_of(paid_from, paid_to),
    )
    return page(stored, _row)


def _row(commission: Commission) -> CommissionRow:
    values = commission._asdict()
    if commission.status == CommissionStatus.PAID:
        back_cents = commission.paid_out_cents - commission.net_cents
        values["taken_back_since_cents"] = back_cents or None
    else:
        del values["paid_out_cents"]
    return CommissionRow(**values)
