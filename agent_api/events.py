"""GET /api/agent/v1/programs/:id/events: clicks, leads, sales, refunds and test events, newest first."""

from agent_api.call import AgentRequest
from presentation import queries, resources
from storage.reading import events
from storage.reading.event_kinds import EventKind
from web.response import JsonResponse


async def index(call: AgentRequest) -> JsonResponse:
    """List the program's events; `?kind=` narrows it."""
    kind = queries.choice(call.request, "kind", EventKind)
    found = await call.storage.read(events.list_events, call.program_id, queries.paging(call.request), kind=kind)
    return JsonResponse(resources.page(found, resources.event))
