"""GET /api/programs/:id/payment-events and PATCH .../:eventId: what the payment account sent, and what was held."""

from starlette.requests import Request

from storage import payment_events, payments
from storage.payments import Decision
from tracking_api.dashboard import authentication
from tracking_api.dashboard.authentication import storage_of, time_of
from web import body, queries, resources
from web.answer import Answer
from web.body import Body


class PaymentDecision(Body):
    """What a payment that was held is: a sale of its own (count), or the one that the API reported (same)."""

    decision: Decision


async def index(request: Request) -> Answer:
    """List the program's payment events; `?outcome=` narrows it."""
    member = await authentication.member(request)
    outcome = queries.text(request, "outcome")
    found = await storage_of(request).read(
        payment_events.listed, member.program_id, queries.paging(request), outcome=outcome
    )
    return Answer(resources.page(found, lambda event: event._asdict()))


async def decide(request: Request) -> Answer:
    """Decide a payment that is held as a possible duplicate. Raises NotFound, DuplicateTransaction."""
    owner = await authentication.owner(request)
    event_id = authentication.named(request, "event_id")
    sent = body.parse(PaymentDecision, await body.read(request.scope, request.receive))
    await storage_of(request).write(
        payments.decide,
        owner.program_id,
        event_id,
        sent.decision,
        actor=owner.actor,
        at=time_of(request),
        lane=owner.program_id,
    )
    return Answer({"success": True})
