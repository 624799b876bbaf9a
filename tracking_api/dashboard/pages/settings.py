"""A program's settings: its name, its commissions, its attribution."""

from pydantic_core import to_json
from starlette.requests import Request
from starlette.responses import Response

from presentation.changes import ProgramChange
from storage.lists.programs import Program
from storage.management import deletion, program_settings
from storage.rules.errors import CurrencyNotSupported, PreconditionFailed, ProgramHasEvents, ValidationError
from storage.rules.setting_kinds import Kind
from storage.rules.settings import SECTIONS, SETTINGS
from tracking_api.dashboard.pages import confirmation, forms, notices, page_context, templates, values
from tracking_api.dashboard.pages.forms import Form, Problems
from tracking_api.dashboard.pages.page import redirect
from tracking_api.dashboard.pages.page_context import PageContext
from web import body

UNCONFIRMED = "Select the box first: a deleted program cannot be restored."
BY_SECTION = {section: [setting for setting in SETTINGS if setting.section == section] for section in SECTIONS}


async def show_settings(request: Request) -> Response:
    """Show the settings; owners may change them."""
    context = await page_context.as_member(request)
    return _form(request, context, _typed(context.program), Problems())


async def change_settings(request: Request) -> Response:
    """Save the settings. An error appears beside its field, and then nothing is saved."""
    context = await page_context.as_owner(request)
    form = await forms.read_form(request)
    try:
        changes = body.parse(ProgramChange, to_json(values.of_form(form, SETTINGS, currency=context.currency))).sent()
        changed = await page_context.change(
            request, context, program_settings.change, changes, expected_revision=_revision(form)
        )
    except (ValidationError, CurrencyNotSupported, PreconditionFailed) as rejection:
        return _form(request, context, values.typed(form), _problems(rejection))
    status = changed.settings.status
    done = "program-changed" if status == context.program.settings.status else f"program-{status}"
    return notices.leave(redirect(f"{context.program_path}/settings"), done)


async def change_status(request: Request) -> Response:
    """Pause the program or make it active again: this undoes the same by the form. Raises ValidationError."""
    context = await page_context.as_owner(request)
    status = (await forms.read_form(request)).text("status")
    changes = body.parse(ProgramChange, to_json({"status": status})).sent()
    await page_context.change(request, context, program_settings.change, changes)
    return notices.leave(redirect(f"{context.program_path}/settings"), f"program-{status}")


async def delete_program(request: Request) -> Response:
    """Delete a program that has no events, or a sandbox."""
    context = await page_context.as_owner(request)
    form = await forms.read_form(request)
    if not confirmation.is_given(form):
        return _form(request, context, _typed(context.program), Problems({"": UNCONFIRMED}))
    try:
        await page_context.change(request, context, deletion.delete_program)
    except ProgramHasEvents as rejection:
        return _form(request, context, _typed(context.program), Problems({"": rejection.text}))
    return notices.leave(redirect("/programs"), "program-deleted")


def _problems(rejection: ValidationError | CurrencyNotSupported | PreconditionFailed) -> Problems:
    if isinstance(rejection, ValidationError):
        problems = Problems.of(rejection)
        for setting in SETTINGS:
            if setting.kind == Kind.CENTS and problems.pop(setting.public_name, ""):
                problems[setting.form_name] = "Enter an amount such as 2.50"
    elif isinstance(rejection, CurrencyNotSupported):
        problems = Problems(currency=rejection.text)
    else:
        problems = Problems({"": "Another member saved these settings while you had them open. Open the page again."})
    return problems


def _revision(form: Form) -> int:
    sent = form.text("revision")
    return int(sent) if sent.isascii() and sent.isdigit() and len(sent) <= len(str(2**31)) else -1


def _typed(program: Program) -> dict[str, str]:
    return values.of_settings(program.settings) | {"revision": str(program.revision)}


def _form(request: Request, context: PageContext, typed: dict[str, str], problems: Problems) -> Response:
    status = 400 if problems else 200
    shown = {"sections": BY_SECTION, "typed": typed, "problems": problems}
    return templates.render(request, "settings.html", status=status, context=context, **shown)
