"""The integration checklist: the finished steps, and the commands for the next one."""

from starlette.requests import Request
from starlette.responses import Response

from storage.engine.pagination import Paging
from storage.management import partners
from storage.reading import checklist
from tracking_api.dashboard.authentication import storage_of
from tracking_api.dashboard.pages import page_context, snippets, templates


async def show_checklist(request: Request) -> Response:
    """Show every step, with a snippet for each open one."""
    context = await page_context.as_member(request)
    storage = storage_of(request)
    steps = await storage.read(checklist.list_steps, context.program.id, base_url=request.app.state.base_url)
    newest = await storage.read(partners.list_partners, context.program.id, Paging(1))
    lines = snippets.of_steps(context, newest.data[0].code if newest.data else None)
    shown = [(step, lines[step.step]) for step in steps]
    return templates.render(request, "checklist.html", context=context, steps=shown)
