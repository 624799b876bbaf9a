"""GET /api/programs/:id/events: clicks, leads, sales, refunds and test events, newest first."""

from starlette.requests import Request

from storage import events
from storage.event_log import EventKind
from tracking_api.dashboard import authentication
from tracking_api.dashboard.authentication import storage_of
from web import queries, resources
from web.answer import Answer


async def index(request: Request) -> Answer:
    """List the program's events; `?kind=` narrows it."""
    member = await authentication.member(request)
    kind = queries.choice(request, "kind", EventKind)
    found = await storage_of(request).read(events.listed, member.program_id, queries.paging(request), kind=kind)
    return Answer(resources.page(found, resources.event))
