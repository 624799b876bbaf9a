"""POST /api/programs/:id/sandbox, DELETE .../sandbox/events: owners open and empty a program's sandbox."""

from presentation.api_request import ApiRequest
from presentation.operations import operation
from presentation.view import SuccessView, View
from storage.management import sandboxes
from storage.rules.errors import NotFound, ValidationError
from tracking_api.dashboard.program_keys import NewKeyView
from tracking_api.dashboard.sessions import NO_STORE
from web.response import ModelResponse


class SandboxKeyView(NewKeyView):
    """A sandbox and its new key; only this response shows `api_token`."""

    program_id: int


class SandboxView(View):
    """The sandbox is open."""

    data: SandboxKeyView


@operation("Create the program's sandbox, or give it a new key", ValidationError)
async def open_sandbox(call: ApiRequest) -> ModelResponse[SandboxView]:
    """Create the program's sandbox, or replace the key of the one that it has."""
    program_id, key = await call.write(sandboxes.open_sandbox)
    view = SandboxKeyView(program_id=program_id, api_token=key.secret, api_token_masked=key.masked)
    return ModelResponse(SandboxView(data=view), NO_STORE)


@operation("Delete every event of the program's sandbox", NotFound)
async def empty_sandbox(call: ApiRequest) -> ModelResponse[SuccessView]:
    """Delete the sandbox's events; its settings, key and partners stay."""
    await call.write(sandboxes.empty)
    return ModelResponse(SuccessView(success=True))
