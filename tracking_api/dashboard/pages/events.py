"""The events log. A filter applies at once, and live mode refreshes the list (htmx requests only the list)."""

from starlette.requests import Request
from starlette.responses import Response

from presentation import queries
from storage.reading import events
from storage.reading.event_kinds import EventKind
from tracking_api.dashboard.authentication import storage_of
from tracking_api.dashboard.pages import filters, page_context, templates


async def list_events(request: Request) -> Response:
    """List the events; `kind` filters them, `live` refreshes the list every few seconds."""
    context = await page_context.as_member(request)
    chosen = filters.chosen(request, "kind", "live")
    kind = filters.choice(request, "kind", EventKind)
    page = await storage_of(request).report(events.list_events, context.program.id, queries.paging(request), kind=kind)
    template = "event_list.html" if request.headers.get("hx-request") == "true" else "events.html"
    first = "cursor" not in request.query_params
    kinds = list(EventKind)
    return templates.render(request, template, context=context, page=page, chosen=chosen, kinds=kinds, first=first)
