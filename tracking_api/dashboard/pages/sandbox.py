"""Settings, Sandbox: an owner opens the program's sandbox, gives it a new key, or deletes its events."""

from starlette.requests import Request
from starlette.responses import Response

from storage.management import sandboxes
from storage.management.sandboxes import Sandbox
from tracking_api.dashboard.authentication import storage_of
from tracking_api.dashboard.pages import confirmation, forms, notices, page_context, templates
from tracking_api.dashboard.pages.confirmation import Question
from tracking_api.dashboard.pages.page import redirect
from tracking_api.dashboard.pages.page_context import PageContext

NEW_KEY = Question("Generate a new sandbox key", "The current key of the sandbox stops working at once.", "")
UNCONFIRMED = "Tick the box first: deleted events cannot be restored."


async def show_sandbox(request: Request) -> Response:
    """Show what the sandbox is for; owners may open and empty it."""
    return await _page(request, await page_context.as_member(request))


async def change_sandbox(request: Request) -> Response:
    """Open the sandbox (`action=open`) and show its new key once, or delete its events (`action=empty`)."""
    context = await page_context.as_owner(request)
    form = await forms.read_form(request)
    if form.text("action") == "open":
        if form.text("replaces") and not confirmation.is_given(form):
            return confirmation.ask(request, form, NEW_KEY._replace(back=request.url.path), context=context)
        opened = await page_context.change(request, context, sandboxes.open_sandbox)
        return await _page(request, context, opened=opened)
    if not confirmation.is_given(form):
        return await _page(request, context, problem=UNCONFIRMED)
    await page_context.change(request, context, sandboxes.empty)
    return notices.leave(redirect(f"{context.program_path}/settings/sandbox"), "sandbox-emptied")


async def _page(
    request: Request, context: PageContext, *, problem: str = "", opened: Sandbox | None = None
) -> Response:
    sandbox_id = await storage_of(request).read(sandboxes.find, context.program.id)
    return templates.render(
        request,
        "sandbox.html",
        status=400 if problem else 200,
        context=context,
        problem=problem,
        opened=opened,
        sandbox_id=sandbox_id,
    )
