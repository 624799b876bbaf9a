"""A program: POST /api/programs, GET|PATCH|DELETE /api/programs/:id, its settings page and the form for a new one."""

from functools import partial

from starlette.requests import Request
from starlette.responses import Response

from presentation.actions import action
from presentation.api_request import ApiRequest
from presentation.changes import NewProgram, ProgramChange
from presentation.operations import operation
from presentation.resources import ProgramView
from presentation.view import SUCCESS, SuccessView
from storage.access.sessions import Visitor
from storage.lists.programs import read_program
from storage.management import deletion, program_settings
from storage.rules import settings
from storage.rules.errors import (
    CurrencyNotSupported,
    FieldError,
    OwnerRequired,
    ProgramHasEvents,
    ValidationError,
)
from storage.rules.settings import BY_NAME, SECTIONS, SETTINGS, ProgramSettings
from tracking_api.dashboard.pages import buttons, forms, page_context, templates, values
from tracking_api.dashboard.pages.buttons import Button, FormOutcome, FormPage
from tracking_api.dashboard.pages.page_context import PageContext
from tracking_api.dashboard.roles import VisitorRequest, visitor_request
from web.response import CreatedResponse, ModelResponse

CHOSEN_FIRST = [BY_NAME[name] for name in ("name", "domain", "commission_type", "commission_rate", "currency")]
BY_SECTION = {section: [setting for setting in SETTINGS if setting.section == section] for section in SECTIONS}


@action("Create a program", OwnerRequired, CurrencyNotSupported, notice="program-created")
async def create_program(call: VisitorRequest, sent: NewProgram) -> CreatedResponse[ProgramView]:
    """Create a program with a hidden key; an owner regenerates the key to see it."""
    chosen = sent.sent()
    workspace_id = _workspace(call.visitor, chosen.pop("workspace_id", None))
    program_id = await call.storage.write(
        program_settings.create, workspace_id, ProgramSettings(**settings.stored(chosen)), at=call.at, actor=call.actor
    )
    return CreatedResponse(ProgramView.of(await call.storage.read(read_program, program_id)))


def _workspace(visitor: Visitor, named: int | None) -> int:
    """Return the workspace of a new program: the one that the request names, else the only one that the account owns.

    Raises Forbidden, OwnerRequired, ValidationError.
    """
    if named is not None:
        visitor.require_workspace(named, owner=True)
    elif not visitor.owned:
        raise OwnerRequired
    elif len(visitor.owned) > 1:
        raise ValidationError(fields=[FieldError("workspace_id", "Required: you own more than one workspace")])
    return named or visitor.owned[0].workspace_id


@operation("A program, with its key masked")
async def get_program(call: ApiRequest) -> ModelResponse[ProgramView]:
    """Return a program, with its key masked."""
    return ModelResponse(ProgramView.of(await call.read(read_program)))


@action(
    "Change a program's settings; new terms apply to later sales only", CurrencyNotSupported, notice="program-changed"
)
async def change_program(call: ApiRequest, sent: ProgramChange) -> ModelResponse[ProgramView]:
    """Change the settings that are sent; earned commissions do not change. A form names the revision that it shows."""
    expected = call.path_id("revision") if "revision" in call.named else None
    changed = await call.write(program_settings.change, sent.sent(), expected_revision=expected)
    return ModelResponse(ProgramView.of(changed))


@action(
    "Delete a program that has no events, or a sandbox; its own sandbox goes with it",
    ProgramHasEvents,
    notice="program-deleted",
)
async def delete_program(call: ApiRequest) -> ModelResponse[SuccessView]:
    """Delete the program. Raises ProgramHasEvents."""
    await call.write(deletion.delete_program)
    return ModelResponse(SUCCESS)


async def show_new_program(request: Request) -> Response:
    """Show the form for a new program."""
    return await _new_page(await visitor_request(request), FormOutcome())


async def create(request: Request) -> Response:
    """Create a program and go to its checklist; an error appears beside its field."""
    call, button = await visitor_request(request), Button(create_program, then="/programs/{id}/settings/checklist")
    return await buttons.press(button, call, partial(_new_page, call), visitor=call.visitor)


async def _new_page(call: VisitorRequest, outcome: FormOutcome) -> Response:
    owned = call.visitor.owned
    if not owned:
        raise OwnerRequired
    defaults = ProgramSettings("", "")
    return templates.render(
        call.request,
        "new_program.html",
        visitor=call.visitor,
        owned=owned,
        workspaces=[(str(each.workspace_id), each.name) for each in owned],
        settings=CHOSEN_FIRST,
        **outcome.shown(values.of_settings(SETTINGS, settings.published(defaults), defaults.currency)),
    )


async def change_settings(request: Request) -> Response:
    """Save the settings. An error appears beside its field, and then nothing is saved."""
    context = await page_context.as_owner(request)
    status = (await forms.read_form(request)).text("status")
    is_same = status in {"", context.program.settings.status}
    return await SETTINGS_PAGE.use(Button(change_program, notice="" if is_same else "program-{status}"), context)


async def _settings_page(context: PageContext, outcome: FormOutcome) -> Response:
    stored = values.of_settings(SETTINGS, settings.published(context.program.settings), context.currency)
    stored["revision"] = str(context.program.revision)
    shown = outcome.shown(stored)
    return templates.render(context.request, "settings.html", context=context, sections=BY_SECTION, **shown)


DELETE = Button(
    delete_program, then="/programs", unticked="Select the box first: a deleted program cannot be restored."
)
SETTINGS_PAGE = FormPage(_settings_page, DELETE)
