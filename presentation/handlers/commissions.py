"""GET /programs/:id/commissions, PATCH .../commissions/:commissionId."""

from presentation import queries
from presentation.api_request import ApiRequest
from presentation.changes import CommissionChange
from presentation.operations import operation
from presentation.resources import CommissionView
from presentation.view import PageView, page
from storage.management import commissions
from storage.rules.commission import CommissionStatus
from storage.rules.errors import CommissionOnHold
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


@operation("Approve, reject or pay a commission", CommissionOnHold, body=CommissionChange)
async def decide_commission(call: ApiRequest) -> ModelResponse[CommissionView]:
    """Approve, reject or pay a commission."""
    commission_id = call.path_id("commission_id")
    sent = await call.parse(CommissionChange)
    return ModelResponse(CommissionView.of(await call.write(commissions.decide, commission_id, sent.status)))
