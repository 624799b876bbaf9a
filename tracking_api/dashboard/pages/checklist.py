"""The integration checklist: the finished steps, the commands for the next one, and a sample page to record a click."""

from starlette.requests import Request
from starlette.responses import Response

from storage.lists.partners import newest_code
from storage.lists.programs import read_program
from storage.reports import checklist
from tracking_api.dashboard.authentication import storage_of
from tracking_api.dashboard.pages import page_context, snippets, templates


async def show_checklist(request: Request) -> Response:
    """Show every step, with a snippet for each open one (htmx requests only the steps, every few seconds)."""
    context = await page_context.as_member(request)
    storage = storage_of(request)
    steps = await storage.read(checklist.list_all_steps, context.program.id, base_url=request.app.state.base_url)
    live_id = context.program.sandbox_of
    live = await storage.read(read_program, live_id) if live_id else None
    code = await storage.read(newest_code, context.program.id)
    lines = snippets.of_steps(context, code)
    shown = [(number, step, lines[step.step]) for number, step in enumerate(steps, start=1)]
    template = "checklist_steps.html" if request.headers.get("hx-request") == "true" else "checklist.html"
    return templates.render(request, template, context=context, steps=shown, partner_code=code, live=live)


async def show_sample_page(request: Request) -> Response:
    """Show a page with the tracker, which records a click if the URL has a partner's code."""
    return templates.render(request, "sample_page.html", context=await page_context.as_member(request))
