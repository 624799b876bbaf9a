"""list_commissions: what partners earned, and where each commission stands."""

from datetime import datetime

from pydantic import Field

from mcp_server.arguments import OfProgram, Paged, RowId
from mcp_server.results import Listed, Model, page
from mcp_server.sanitize import Untrusted
from mcp_server.tools.tool import Tool, ToolRequest
from storage.management import commissions
from storage.rules.commission import CommissionStatus
from storage.rules.scope import Scope


class CommissionsQuery(Paged, OfProgram):
    """Which commissions are wanted."""

    status: CommissionStatus | None = Field(default=None, strict=False)
    partner_id: RowId | None = None


class CommissionRow(Model):
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


class Commissions(Listed):
    """A page of commissions."""

    data: list[CommissionRow]


def _list(call: ToolRequest, arguments: CommissionsQuery) -> Commissions:
    found = commissions.list_commissions(
        call.connection,
        arguments.program_id,
        arguments.paging,
        status=arguments.status,
        partner_id=arguments.partner_id,
    )
    return Commissions(**call.says(arguments), **page(found, CommissionRow.model_validate))


LIST_COMMISSIONS = Tool(
    name="list_commissions",
    title="List commissions",
    scope=Scope.COMMISSIONS_READ,
    description=(
        "What partners earned, newest first: amount_cents as earned, net_cents after refunds or rejection. pending may "
        "be approved after hold_until. No transaction_id: earned by a lead. For sums use get_performance."
    ),
    arguments=CommissionsQuery,
    result=Commissions,
    answer=_list,
)
