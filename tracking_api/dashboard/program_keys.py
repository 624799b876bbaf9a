"""POST /api/programs/:id/regenerate-api-token: the one response that shows a program key."""

from presentation.actions import action
from presentation.api_request import ApiRequest
from presentation.view import View
from storage.access import program_keys
from tracking_api.dashboard.sessions import NO_STORE
from web.response import ModelResponse


class NewKeyView(View):
    """A program's new key; only this response shows `api_token`."""

    api_token: str
    api_token_masked: str


class RegeneratedView(View):
    """The key was replaced."""

    data: NewKeyView


@action("Replace the program's key; the old one stops working at once")
async def regenerate_program_key(call: ApiRequest) -> ModelResponse[RegeneratedView]:
    """Replace the program's key; the old one stops at once."""
    new_key = await call.write(program_keys.regenerate)
    key = NewKeyView(api_token=new_key.secret, api_token_masked=new_key.masked)
    return ModelResponse(RegeneratedView(data=key), NO_STORE)
