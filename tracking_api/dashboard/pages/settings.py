"""A program's settings: its name, its commissions, its attribution."""

from functools import partial

from starlette.requests import Request
from starlette.responses import Response

from storage.rules import settings
from storage.rules.settings import SECTIONS, SETTINGS
from tracking_api.dashboard.pages import buttons, forms, page_context, templates, values
from tracking_api.dashboard.pages.buttons import Button, FormOutcome
from tracking_api.dashboard.pages.page_context import PageContext
from tracking_api.dashboard.programs import change_program, delete_program

DELETE = Button(
    delete_program, then="/programs", unticked="Select the box first: a deleted program cannot be restored."
)
BY_SECTION = {section: [setting for setting in SETTINGS if setting.section == section] for section in SECTIONS}


async def show_settings(request: Request) -> Response:
    """Show the settings; owners may change them."""
    return await _page(await page_context.as_member(request), FormOutcome())


async def change_settings(request: Request) -> Response:
    """Save the settings. An error appears beside its field, and then nothing is saved."""
    context = await page_context.as_owner(request)
    status = (await forms.read_form(request)).text("status")
    is_same = status in {"", context.program.settings.status}
    button = Button(change_program, notice="" if is_same else "program-{status}")
    return await buttons.press(button, context, partial(_page, context), context=context)


async def delete(request: Request) -> Response:
    """Delete a program that has no events, or a sandbox."""
    context = await page_context.as_owner(request)
    return await buttons.press(DELETE, context, partial(_page, context), context=context)


async def _page(context: PageContext, outcome: FormOutcome) -> Response:
    stored = values.of_settings(SETTINGS, settings.published(context.program.settings), context.currency)
    stored["revision"] = str(context.program.revision)
    shown = outcome.shown(stored)
    return templates.render(context.request, "settings.html", context=context, sections=BY_SECTION, **shown)
