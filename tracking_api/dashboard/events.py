"""GET /api/programs/:id/events: clicks, leads, sales, refunds and test events, newest first."""

from starlette.requests import Request

from presentation import queries, resources
from storage.reading import events
from storage.reading.event_kinds import EventKind
from tracking_api.dashboard import authentication
from tracking_api.dashboard.authentication import storage_of
from web.response import JsonResponse


async def index(request: Request) -> JsonResponse:
    """List the program's events; `?kind=` narrows it."""
    member = await authentication.member(request)
    kind = queries.choice(request, "kind", EventKind)
    found = await storage_of(request).read(events.list_events, member.program_id, queries.paging(request), kind=kind)
    return JsonResponse(resources.page(found, resources.event))
