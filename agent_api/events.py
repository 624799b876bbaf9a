"""GET /api/agent/v1/programs/:id/events: clicks, leads, sales, refunds and test events, newest first."""

from agent_api.call import Call
from storage import events
from storage.event_log import EventKind
from web import queries, resources
from web.answer import Answer


async def index(call: Call) -> Answer:
    """List the program's events; `?kind=` narrows it."""
    kind = queries.choice(call.request, "kind", EventKind)
    found = await call.storage.read(events.listed, call.program_id, queries.paging(call.request), kind=kind)
    return Answer(resources.page(found, resources.event))
