"""Settings, Sandbox: an owner opens the program's sandbox, gives it a new key, or deletes its events."""

from functools import partial

from starlette.requests import Request
from starlette.responses import Response

from storage.management import sandboxes
from tracking_api.dashboard.pages import buttons, forms, page_context, templates
from tracking_api.dashboard.pages.buttons import Button, FormOutcome
from tracking_api.dashboard.pages.confirmation import Question
from tracking_api.dashboard.pages.page_context import PageContext
from tracking_api.dashboard.sandboxes import empty_sandbox, open_sandbox

BUTTONS = {
    "open": Button(open_sandbox),
    "empty": Button(empty_sandbox, unticked="Tick the box first: deleted events cannot be restored."),
}
NEW_KEY = Question("Generate a new sandbox key", "The current key of the sandbox stops working at once.")


async def show_sandbox(request: Request) -> Response:
    """Show what the sandbox is for; owners may open and empty it."""
    return await _page(await page_context.as_member(request), FormOutcome())


async def change_sandbox(request: Request) -> Response:
    """Open the sandbox (`action=open`) and show its new key once, or delete its events (`action=empty`)."""
    context = await page_context.as_owner(request)
    form = await forms.read_form(request)
    button = buttons.named(BUTTONS, form)
    if form.text("replaces"):
        button = button._replace(question=NEW_KEY)
    return await buttons.press(button, context, partial(_page, context), context=context)


async def _page(context: PageContext, outcome: FormOutcome) -> Response:
    sandbox_id = await context.read(sandboxes.find)
    shown = outcome.shown()
    return templates.render(context.request, "sandbox.html", context=context, sandbox_id=sandbox_id, **shown)
