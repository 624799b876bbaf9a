"""GET|POST /api/agent/v1/programs/:id/partners, PATCH .../partners/:partnerId."""

from agent_api import repeats
from agent_api.call import Call
from storage import partners
from storage.rules.attribution import PartnerStatus
from web import body, queries, resources
from web.answer import Answer
from web.changes import NewPartner, PartnerChange


async def index(call: Call) -> Answer:
    """List the program's partners; `?status=` narrows it."""
    status = queries.choice(call.request, "status", PartnerStatus)
    found = await call.storage.read(partners.listed, call.program_id, queries.paging(call.request), status=status)
    return Answer(resources.page(found, resources.partner))


async def enrol(call: Call) -> Answer:
    """Enrol a partner; with an Idempotency-Key, once."""
    content = await body.read(call.request.scope, call.request.receive)
    sent = body.parse(NewPartner, content).sent()
    return await repeats.once(
        call, content, partners.enrol, resources.partner, **sent, actor=call.key.actor, at=call.at
    )


async def change(call: Call) -> Answer:
    """Change a partner's name, e-mail address, code or status."""
    partner_id = call.named("partner_id")
    sent = body.parse(PartnerChange, await body.read(call.request.scope, call.request.receive)).sent()
    changed = await call.storage.write(
        partners.change,
        call.program_id,
        partner_id,
        sent,
        actor=call.key.actor,
        at=call.at,
        lane=call.program_id,
    )
    return Answer(resources.partner(changed))
