"""GET|POST /api/agent/v1/programs/:id/partners, PATCH .../partners/:partnerId."""

from agent_api import repeats
from agent_api.call import AgentRequest
from presentation import queries, resources
from presentation.changes import NewPartner, PartnerChange
from storage.management import partners
from storage.rules.attribution import PartnerStatus
from web import body
from web.response import JsonResponse


async def index(call: AgentRequest) -> JsonResponse:
    """List the program's partners; `?status=` narrows it."""
    status = queries.choice(call.request, "status", PartnerStatus)
    found = await call.storage.read(
        partners.list_partners, call.program_id, queries.paging(call.request), status=status
    )
    return JsonResponse(resources.page(found, resources.partner))


async def enrol(call: AgentRequest) -> JsonResponse:
    """Enrol a partner; with an Idempotency-Key, once."""
    content = await body.read_body(call.request.scope, call.request.receive)
    sent = body.parse(NewPartner, content).sent()
    return await repeats.once(
        call, content, partners.enrol, resources.partner, **sent, actor=call.key.actor, at=call.at
    )


async def change(call: AgentRequest) -> JsonResponse:
    """Change a partner's name, e-mail address, code or status."""
    partner_id = call.named("partner_id")
    sent = body.parse(PartnerChange, await body.read_body(call.request.scope, call.request.receive)).sent()
    changed = await call.storage.write(
        partners.change,
        call.program_id,
        partner_id,
        sent,
        actor=call.key.actor,
        at=call.at,
        lane=call.program_id,
    )
    return JsonResponse(resources.partner(changed))
