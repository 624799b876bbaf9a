"""POST /api/programs/:id/regenerate-api-token, the one response that shows a program key, and its page."""

from dataclasses import replace

from starlette.responses import Response

from presentation.api_request import ApiRequest
from presentation.operations import operation
from presentation.view import View
from storage.access import program_keys
from storage.lists.programs import read_program
from storage.reports import checklist
from storage.rules.errors import ValidationError
from storage.tracking import key_callers
from tracking_api.dashboard.pages.buttons import Button, FormOutcome, FormPage
from tracking_api.dashboard.pages.page_context import PageContext

REPLACED = "This key was already replaced, so nothing changed. A new key is shown only once, when it is created."


class NewKeyView(View):
    """A program's new key; only this response shows `api_token`."""

    api_token: str
    api_token_masked: str


class RegeneratedView(View):
    """The key was replaced."""

    data: NewKeyView


@operation()
async def regenerate_program_key(call: ApiRequest) -> RegeneratedView:
    """Replace the program's key; the old one stops working at once.

    A form names the key that it replaces, so that a reloaded page does not replace the key again.
    """
    if "replaces" in call.named and call.named["replaces"] != (await call.read(read_program)).api_token_masked:
        raise ValidationError(REPLACED)
    new_key = await call.write(program_keys.regenerate)
    return RegeneratedView(data=NewKeyView(api_token=new_key.secret, api_token_masked=new_key.masked))


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
