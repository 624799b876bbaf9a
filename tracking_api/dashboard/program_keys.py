"""The keys of a program and of its sandbox: POST .../regenerate-api-token and .../sandbox, and their pages."""

from dataclasses import replace

from starlette.responses import Response

from presentation.api_request import ApiRequest
from presentation.operations import operation
from presentation.view import DataView, View
from storage.access import program_keys
from storage.lists.programs import read_program
from storage.management import program_settings
from storage.reports import checklist
from storage.rules.errors import NotFound, ValidationError
from storage.tracking import key_callers
from tracking_api.dashboard.pages.buttons import Button, FormOutcome, FormPage, Question
from tracking_api.dashboard.pages.page_context import PageContext

REPLACED = "This key was already replaced, so nothing changed. A new key is shown only once, when it is created."


class NewKeyView(View):
    """A program's new key; only this response shows `api_token`."""

    api_token: str
    api_token_masked: str


@operation()
async def regenerate_program_key(call: ApiRequest) -> DataView[NewKeyView]:
    """Replace the program's key; the old one stops working at once."""
    # A form names the key that it replaces, so that a reloaded page does not replace the key again.
    if "replaces" in call.named and call.named["replaces"] != (await call.read(read_program)).api_token_masked:
        raise ValidationError(REPLACED)
    new_key = await call.write(program_keys.regenerate)
    return DataView(data=NewKeyView(api_token=new_key.secret, api_token_masked=new_key.masked))


async def _page(context: PageContext, outcome: FormOutcome) -> Response:
    return outcome.page(
        replace(context, program=await context.read(read_program)) if outcome.response else context,
        "program_key.html",
        callers=await context.read(key_callers.list_callers),
        has_key=await context.read(checklist.find_shown_key) is not None,
        is_first=outcome.pressed == "create",
    )


PAGE = FormPage(
    _page,
    {
        "create": Button(regenerate_program_key),
        "": Button(regenerate_program_key, unticked="Tick the box first: the current key stops working at once."),
    },
)


class SandboxKeyView(NewKeyView):
    """A sandbox and its new key; only this response shows `api_token`."""

    program_id: int


@operation()
async def open_sandbox(call: ApiRequest) -> DataView[SandboxKeyView]:
    """Create the program's sandbox, or give it a new key."""
    program_id, key = await call.write(program_settings.open_sandbox)
    return DataView(data=SandboxKeyView(program_id=program_id, api_token=key.secret, api_token_masked=key.masked))


@operation(NotFound, notice="sandbox-emptied")
async def empty_sandbox(call: ApiRequest) -> None:
    """Delete every event of the program's sandbox; its settings, key and partners stay."""
    await call.write(program_settings.empty_sandbox)


async def _sandbox_page(context: PageContext, outcome: FormOutcome) -> Response:
    return outcome.page(context, "sandbox.html", sandbox_id=await context.read(program_settings.find_sandbox))


NEW_KEY = Question("Generate a new sandbox key", "The current key of the sandbox stops working at once.")
SANDBOX_PAGE = FormPage(
    _sandbox_page,
    {
        "open": Button(open_sandbox),
        "renew": Button(open_sandbox, question=NEW_KEY),
        "empty": Button(empty_sandbox, unticked="Tick the box first: deleted events cannot be restored."),
    },
)
