"""Developers, API keys: the masked key, who uses it, and the one response that shows a new key."""

from starlette.requests import Request
from starlette.responses import Response

from storage.access import program_keys
from storage.access.program_keys import NewKey
from storage.lists import key_callers
from storage.reports import checklist
from tracking_api.dashboard.authentication import storage_of
from tracking_api.dashboard.pages import confirmation, forms, page_context, templates
from tracking_api.dashboard.pages.page_context import PageContext

UNCONFIRMED = "Tick the box first: the current key stops working at once."
REPLACED = "This key was already replaced, so nothing changed. A new key is shown only once, when it is created."


async def show_program_key(request: Request) -> Response:
    """Show the key's mask; owners may replace it."""
    return await _page(request, await page_context.as_member(request))


async def regenerate_program_key(request: Request) -> Response:
    """Create the first key, or replace the key and show the new one; the old one stops at once.

    The form names the key that it replaces, so that a reloaded page does not replace the key again.
    """
    context = await page_context.as_owner(request)
    form = await forms.read_form(request)
    if form.text("replaces") != context.program.api_token_masked:
        return await _page(request, context, problem=REPLACED)
    is_first = not await storage_of(request).read(checklist.has_shown_key, context.program.id)
    if not confirmation.is_given(form) and not is_first:
        return await _page(request, context, problem=UNCONFIRMED)
    new_key: NewKey = await page_context.change(request, context, program_keys.regenerate)
    fresh = context.program._replace(api_token_masked=new_key.masked, flagged_at=None, rotate_by=None)
    return await _page(request, context._replace(program=fresh), secret=new_key.secret, is_first=is_first)


async def _page(
    request: Request, context: PageContext, *, problem: str = "", secret: str = "", is_first: bool = False
) -> Response:
    storage, program_id = storage_of(request), context.program.id
    callers = await storage.read(key_callers.list_callers, program_id)
    has_key = await storage.read(checklist.has_shown_key, program_id)
    values = {"context": context, "problem": problem, "secret": secret, "callers": callers}
    shown = {"has_key": has_key, "is_first": is_first}
    return templates.render(request, "program_key.html", status=400 if problem else 200, **values, **shown)
