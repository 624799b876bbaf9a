"""The integration checklist: the finished steps, how to do the next one, and a sample page to record a click.

templates/checklist_steps.html says how a step is done: on a page, or by a snippet of the guide `verify`.
"""

from starlette.requests import Request
from starlette.responses import Response

from presentation import guides
from storage.lists.partners import newest_code
from storage.lists.programs import read_program
from storage.reports import checklist
from tracking_api.dashboard.pages import page_context, templates


async def show_checklist(request: Request) -> Response:
    """Show every step, with a snippet for each open one (htmx requests only the steps, every few seconds)."""
    context = await page_context.as_member(request)
    live_id, code = context.program.sandbox_of, await context.read(newest_code)
    return templates.render(
        request,
        "checklist_steps.html" if request.headers.get("hx-request") == "true" else "checklist.html",
        context=context,
        steps=await context.read(checklist.list_all_steps, base_url=context.base_url),
        snippets=guides.blocks("verify", guides.filling(context.program, base_url=context.base_url, code=code)),
        partner_code=code,
        live=await context.storage.read(read_program, live_id) if live_id else None,
    )


async def show_sample_page(request: Request) -> Response:
    """Show a page with the tracker, which records a click if the URL has a partner's code."""
    return templates.render(request, "sample_page.html", context=await page_context.as_member(request))
