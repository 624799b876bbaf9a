"""list_commissions: the commissions of partners and their status."""

from datetime import datetime

from mcp_server.arguments import Cursor, Limit, RowId
from mcp_server.results import Result, RowPage, page
from mcp_server.sanitize import Untrusted
from mcp_server.tools.tool import ToolRequest, tool
from storage.engine.pagination import Paging
from storage.management import commissions
from storage.rules.commission import CommissionStatus
from storage.rules.scope import Scope


class CommissionRow(Result):
    """A commission: `amount_cents` as earned, `net_cents` after refunds and a rejection."""

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


@tool("List commissions", Scope.COMMISSIONS_READ)
def list_commissions(
    request: ToolRequest,
    *,
    program_id: int,
    limit: Limit = 25,
    cursor: Cursor | None = None,
    status: CommissionStatus | None = None,
    partner_id: RowId | None = None,
) -> RowPage[CommissionRow]:
    """Commissions of partners, newest first: amount_cents as earned, net_cents after refunds or rejection. pending may
    be approved after hold_until, unless an open flag holds it (list_flags). No transaction_id: earned by a lead. For
    sums use get_performance.
    """
    paging = Paging(limit, cursor)
    stored = commissions.list_commissions(request.connection, program_id, paging, status=status, partner_id=partner_id)
    return page(stored, CommissionRow.model_validate)
