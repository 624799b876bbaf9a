"""GET /programs/:id/commissions: the commissions, filtered."""

from presentation import queries
from presentation.api_request import ApiRequest
from presentation.operations import operation
from presentation.resources import CommissionView
from presentation.view import PageView, page
from storage.management import commissions
from storage.rules.commission import CommissionStatus
from web.response import ModelResponse

FILTERS = {"status": "pending, approved, rejected, paid or reversed.", "partner_id": "Only this partner's."}


@operation("The commissions", query=FILTERS)
async def list_commissions(call: ApiRequest) -> ModelResponse[PageView[CommissionView]]:
    """List the program's commissions; `?status=` and `?partner_id=` narrow it."""
    stored = await call.read(
        commissions.list_commissions,
        queries.paging(call.request),
        status=queries.choice(call.request, "status", CommissionStatus),
        partner_id=queries.number(call.request, "partner_id"),
    )
    return page(stored, CommissionView)
