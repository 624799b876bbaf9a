"""GET /programs/:id/events: clicks, leads, sales, refunds and test events, newest first."""

from presentation import queries
from presentation.api_request import ApiRequest
from presentation.operations import operation
from presentation.resources import EventView
from presentation.view import PageView, page
from storage.reading import events
from storage.reading.event_kinds import EventKind
from web.response import ModelResponse


@operation("Clicks, leads, sales, refunds and test events", query={"kind": "click, lead, sale, refund or test."})
async def list_events(call: ApiRequest) -> ModelResponse[PageView[EventView]]:
    """List the program's events; `?kind=` narrows it."""
    kind = queries.choice(call.request, "kind", EventKind)
    return page(await call.read(events.list_events, queries.paging(call.request), kind=kind), EventView)
