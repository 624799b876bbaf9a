"""The events log. A filter applies at once, and live mode refreshes the list (htmx requests only the list)."""

from starlette.requests import Request
from starlette.responses import Response

from storage.lists.events import EVENTS
from tracking_api.dashboard.pages import page_context, templates
from tracking_api.dashboard.pages.lists import ListPage

EVENT_LIST = ListPage(EVENTS, "events.html", tabs=("live",))


async def list_events(request: Request) -> Response:
    """List the events; `live` refreshes the list every few seconds."""
    context = await page_context.as_member(request)
    template = "event_list.html" if request.headers.get("hx-request") == "true" else EVENT_LIST.template
    return templates.render(request, template, context=context, list=await EVENT_LIST.read(request, context))
