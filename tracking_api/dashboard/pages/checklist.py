"""The integration checklist: the finished steps, how to do the next one, and a sample page to record a click.

A step is done on a page, or by a snippet from the guide `verify`, which never has a secret.
"""

from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from presentation import guides
from storage.lists.partners import newest_code
from storage.lists.programs import read_program
from storage.reports import checklist
from tracking_api.dashboard.pages import page_context, templates


class Instruction(NamedTuple):
    """A step's title, how to do it, and the page to do it on: its path and the link's text (None: code to copy).

    What would leave a live sale behind `is_tried_in_sandbox`: only there the step shows its code.
    """

    title: str
    how: str
    page: tuple[str, str] | None = None
    is_tried_in_sandbox: bool = False


HOW = {
    "program_key": Instruction(
        "Create the program key",
        "Your server sends it with leads, sales and refunds. It is shown once.",
        ("/settings/api-keys", "Create the key"),
    ),
    "first_partner": Instruction(
        "Add a partner",
        "A person or a site that recommends you. Use your own name to try it out.",
        ("/partners", "Add a partner"),
    ),
    "sample_page": Instruction(
        "Try a link on the sample page",
        "No shop yet? The sample page stands for yours. Opened through the partner's link, its tracker sends a click.",
        ("/sample-page", "Open a sample page"),
    ),
    "tracker_installed": Instruction(
        "Install the tracker",
        "Put this line into the head of every page of your site, then open one through a partner's link.",
    ),
    "test_click": Instruction("Send a test click", "Run this in a terminal that has the program key:"),
    "test_lead": Instruction("Send a test lead", "Send it as your server will:"),
    "test_sale": Instruction("Send a test sale", "A test sale earns no commission:"),
    "live_click": Instruction(
        "Send a live click",
        "Open a partner's referral link in your browser, or send the call of the tracker:",
    ),
    "live_lead": Instruction(
        "Send a live lead", "Send it from your server when a visitor signs up:", is_tried_in_sandbox=True
    ),
    "live_sale": Instruction(
        "Send a live sale", "Send it from your server when a customer pays:", is_tried_in_sandbox=True
    ),
}


async def show_checklist(request: Request) -> Response:
    """Show every step, with a snippet for each open one (htmx requests only the steps, every few seconds)."""
    context = await page_context.as_member(request)
    live_id, code = context.program.sandbox_of, await context.read(newest_code)
    return templates.render(
        request,
        "checklist_steps.html" if request.headers.get("hx-request") == "true" else "checklist.html",
        context=context,
        steps=await context.read(checklist.list_all_steps, base_url=context.base_url),
        how=HOW,
        snippets=guides.blocks("verify", guides.filling(context.program, base_url=context.base_url, code=code)),
        partner_code=code,
        live=await context.storage.read(read_program, live_id) if live_id else None,
    )


async def show_sample_page(request: Request) -> Response:
    """Show a page with the tracker, which records a click if the URL has a partner's code."""
    return templates.render(request, "sample_page.html", context=await page_context.as_member(request))
