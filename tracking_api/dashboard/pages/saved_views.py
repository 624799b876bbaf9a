"""Saved views of Explore, and the read-only link that opens one without signing in; it shows no customer."""

from datetime import datetime
from typing import Any
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response

from presentation.api_request import ApiRequest, valid_id
from storage.access.workspaces import MANAGERS
from storage.engine.audit import Actor
from storage.management import saved_views
from storage.rules.errors import LinkExpired, ValidationError
from tracking_api.dashboard.authentication import storage_of, time_of
from tracking_api.dashboard.pages import explore, forms, notices, page_context
from tracking_api.dashboard.pages.page_context import PageContext

PURPOSE = "read-only report"


async def show_explore(request: Request) -> Response:
    """Show Explore with the program's saved views and their links; `add` leads to the page with one filter more."""
    context = await page_context.as_member(request)
    if request.query_params.get("add"):
        return explore.add_filter(request)
    views = [(view, _link(context, view)) for view in await context.read(saved_views.list_views)]
    return await explore.page(context, context=context, views=views)


async def change_view(request: Request) -> Response:
    """Save the page's query under a name; share, revoke or delete a saved view. Raises NotFound, ValidationError."""
    context, form = await page_context.as_member(request, MANAGERS), await forms.read_form(request)
    action, query, view_id = (form.text(name) for name in ("action", "query", "view_id"))
    if action == "save":
        await context.write(saved_views.save, form.text("name"), query)
    elif action in {"share", "revoke", "delete"}:
        await context.write(saved_views.change, valid_id(view_id), action)
    else:
        raise ValidationError("This button does not exist.")
    return notices.redirect(f"{context.program_path}/explore?{query}", "views-changed")


def _link(context: PageContext, view: Any) -> str:
    """Return the link of a view, which no one can forge or change; empty for one that is not shared, or too old."""
    until = view.shared_until
    if until is None or until <= context.at:
        return ""
    values = (until, PURPOSE, context.program.id, view.id, until.isoformat())
    return f"{context.base_url}/reports/{quote(context.request.app.state.settings.sealer().seal_until(*values))}"


async def show_shared(request: Request) -> Response:
    """Show the report of a link, whatever else its URL says. Raises LinkExpired for a revoked one, too."""
    storage, at, sealer = storage_of(request), time_of(request), request.app.state.settings.sealer()
    values = sealer.open_until(at, PURPOSE, request.path_params["sealed"])
    if not values:
        raise LinkExpired(hint="Ask whoever sent you the link for a new one.")
    program_id, view_id, until = values
    view = await storage.read(saved_views.get_shared, program_id, view_id, until=datetime.fromisoformat(until))
    figure = quote(request.query_params.get("figure", ""))  # which one the chart draws
    saved = Request({**request.scope, "query_string": f"{view.query}&figure={figure}".encode()})
    actor = Actor("link", str(view.id), view.name)
    call = ApiRequest(request=saved, storage=storage, at=at, actor=actor, program_id=program_id)
    return await explore.page(call, view=view, program_name=view.program)
