"""GET /programs/:id/events: clicks, leads, sales, refunds and test events, newest first."""

from presentation import queries
from presentation.api_request import ApiRequest
from presentation.operations import operation
from presentation.resources import EventView
from presentation.view import PageView, page
from storage.reading import events
from storage.reading.event_filters import EventFilter
from storage.reading.event_kinds import EventKind
from web.response import ModelResponse

FILTERS = {
    "kind": "click, lead, sale, refund or test.",
    "partner_id": "Only this partner's.",
    "customer_id": "Only this customer's.",
    "transaction_id": "Only the sale with this transaction_id, and its refunds.",
    **queries.DATES,
}


@operation("Clicks, leads, sales, refunds and test events", query=FILTERS)
async def list_events(call: ApiRequest) -> ModelResponse[PageView[EventView]]:
    """List the program's events; `?kind=` and the other filters narrow it."""
    kind = queries.choice(call.request, "kind", EventKind)
    match = EventFilter(
        queries.span(call.request),
        partner_id=queries.number(call.request, "partner_id"),
        customer_id=queries.number(call.request, "customer_id"),
        transaction_id=queries.text(call.request, "transaction_id"),
    )
    return page(await call.report(events.list_events, queries.paging(call.request), kind=kind, match=match), EventView)
