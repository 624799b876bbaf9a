"""GET /api/programs/:id/payment-events: what the connected payment account sent, and what became of it."""

from starlette.requests import Request

from storage import payment_events
from tracking_api.dashboard import authentication
from tracking_api.dashboard.authentication import storage_of
from web import queries, resources
from web.answer import Answer


async def index(request: Request) -> Answer:
    """List the program's payment events; `?outcome=` narrows it."""
    member = await authentication.member(request)
    outcome = queries.text(request, "outcome")
    found = await storage_of(request).read(
        payment_events.listed, member.program_id, queries.paging(request), outcome=outcome
    )
    return Answer(resources.page(found, lambda event: event._asdict()))
