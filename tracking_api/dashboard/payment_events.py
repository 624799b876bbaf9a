"""GET /api/programs/:id/payment-events and PATCH .../:eventId: what the payment account sent, and what was held."""

from starlette.requests import Request

from presentation import queries, resources
from storage.payments import processing, received_events
from storage.payments.processing import Decision
from tracking_api.dashboard import authentication
from tracking_api.dashboard.authentication import storage_of, time_of
from web import body
from web.body import Body
from web.response import JsonResponse


class PaymentDecision(Body):
    """What a payment that was held is: a sale of its own (count), or the one that the API reported (same)."""

    decision: Decision


async def index(request: Request) -> JsonResponse:
    """List the program's payment events; `?outcome=` narrows it."""
    member = await authentication.member(request)
    outcome = queries.text(request, "outcome")
    found = await storage_of(request).read(
        received_events.list_events, member.program_id, queries.paging(request), outcome=outcome
    )
    return JsonResponse(resources.page(found, lambda event: event._asdict()))


async def decide(request: Request) -> JsonResponse:
    """Decide a payment that is held as a possible duplicate. Raises NotFound, DuplicateTransaction."""
    owner = await authentication.owner(request)
    event_id = authentication.named(request, "event_id")
    sent = body.parse(PaymentDecision, await body.read_body(request.scope, request.receive))
    await storage_of(request).write(
        processing.decide,
        owner.program_id,
        event_id,
        sent.decision,
        actor=owner.actor,
        at=time_of(request),
        lane=owner.program_id,
    )
    return JsonResponse({"success": True})
