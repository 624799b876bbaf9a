"""GET /api/agent/v1/programs/:id/commissions, PATCH .../commissions/:commissionId."""

from agent_api.call import Call
from storage import commissions
from storage.rules.commission import CommissionStatus
from web import body, queries, resources
from web.answer import Answer
from web.changes import CommissionChange


async def index(call: Call) -> Answer:
    """List the program's commissions; `?status=` and `?partner_id=` narrow it."""
    found = await call.storage.read(
        commissions.listed,
        call.program_id,
        queries.paging(call.request),
        status=queries.choice(call.request, "status", CommissionStatus),
        partner_id=queries.number(call.request, "partner_id"),
    )
    return Answer(resources.page(found, resources.commission))


async def decide(call: Call) -> Answer:
    """Approve, reject or pay a commission."""
    commission_id = call.named("commission_id")
    sent = body.parse(CommissionChange, await body.read(call.request.scope, call.request.receive))
    decided = await call.storage.write(
        commissions.decide,
        call.program_id,
        commission_id,
        sent.status,
        actor=call.key.actor,
        at=call.at,
        lane=call.program_id,
    )
    return Answer(resources.commission(decided))
