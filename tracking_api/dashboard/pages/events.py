"""The events log: filtered while you choose, refreshed while you watch (htmx asks for the list alone)."""

from starlette.requests import Request
from starlette.responses import Response

from storage import events
from storage.event_log import EventKind
from tracking_api.dashboard.authentication import storage_of
from tracking_api.dashboard.pages import filters, seen, templates
from web import queries


async def index(request: Request) -> Response:
    """List the events; kind narrows it, live asks for it again every few seconds."""
    see = await seen.as_member(request)
    chosen = filters.chosen(request, "kind", "live")
    kind = filters.choice(request, "kind", EventKind)
    found = await storage_of(request).read(events.listed, see.program.id, queries.paging(request), kind=kind)
    template = "event_list.html" if request.headers.get("hx-request") == "true" else "events.html"
    first = "cursor" not in request.query_params
    kinds = list(EventKind)
    return templates.render(request, template, seen=see, found=found, chosen=chosen, kinds=kinds, first=first)
