"""POST /api/agent/v1/programs/:id/partners: an Idempotency-Key makes it safe to repeat."""

from agent_api import repeats
from agent_api.call import AgentRequest
from presentation.changes import NewPartner
from presentation.operations import operation
from presentation.resources import PartnerView
from storage.management import partners
from storage.rules.errors import IdempotencyKeyReused
from web import body
from web.response import CreatedResponse


@operation(
    "Enrol a partner",
    IdempotencyKeyReused,
    body=NewPartner,
    headers={repeats.HEADER: "A repeat with the same body within 30 days only gets the first response."},
    response_headers=("Idempotency-Replayed",),
)
async def enrol_partner(call: AgentRequest) -> CreatedResponse[PartnerView]:
    """Add a partner; an Idempotency-Key makes it safe to repeat."""
    content = await body.read_body(call.request.scope, call.request.receive)
    sent = body.parse(NewPartner, content).sent()
    return await repeats.once(call, content, partners.enrol, PartnerView, **sent, actor=call.actor, at=call.at)
