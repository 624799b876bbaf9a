"""GET /api/agent/v1/programs/:id/commissions, PATCH .../commissions/:commissionId."""

from agent_api.call import AgentRequest
from presentation import queries, resources
from presentation.changes import CommissionChange
from storage.management import commissions
from storage.rules.commission import CommissionStatus
from web import body
from web.response import JsonResponse


async def index(call: AgentRequest) -> JsonResponse:
    """List the program's commissions; `?status=` and `?partner_id=` narrow it."""
    found = await call.storage.read(
        commissions.list_commissions,
        call.program_id,
        queries.paging(call.request),
        status=queries.choice(call.request, "status", CommissionStatus),
        partner_id=queries.number(call.request, "partner_id"),
    )
    return JsonResponse(resources.page(found, resources.commission))


async def decide(call: AgentRequest) -> JsonResponse:
    """Approve, reject or pay a commission."""
    commission_id = call.named("commission_id")
    sent = body.parse(CommissionChange, await body.read_body(call.request.scope, call.request.receive))
    decided = await call.storage.write(
        commissions.decide,
        call.program_id,
        commission_id,
        sent.status,
        actor=call.key.actor,
        at=call.at,
        lane=call.program_id,
    )
    return JsonResponse(resources.commission(decided))
