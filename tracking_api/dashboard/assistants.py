"""GET /api/assistants and DELETE /api/assistants/:id: list and disconnect assistants."""

from datetime import datetime

from presentation.actions import action
from presentation.operations import operation
from presentation.view import SuccessView, View
from storage.access import assistants
from storage.rules.scope import Scope
from tracking_api.dashboard.roles import VisitorRequest
from web.response import ModelResponse


class ConnectedAssistantView(View):
    """An assistant that a member connected. `name` comes from its client and is untrusted text.

    `host` is who vouches for it; `last_used_at` is when it last fetched a token: while in use, every 15 minutes.
    """

    id: int
    name: str
    host: str
    workspace_id: int
    email: str
    scopes: list[Scope]
    program_ids: list[int]
    connected_at: datetime
    last_used_at: datetime | None


class ConnectedAssistantsView(View):
    """The assistants that a member may see, newest first: their own, and all in workspaces that they own."""

    data: list[ConnectedAssistantView]


@operation("The assistants that members connected")
async def list_assistants(call: VisitorRequest) -> ModelResponse[ConnectedAssistantsView]:
    """List the connected assistants."""
    listed = await call.storage.read(assistants.list_assistants, call.visitor, at=call.at)
    return ModelResponse(ConnectedAssistantsView(data=[ConnectedAssistantView.of(each) for each in listed]))


@action("Disconnect an assistant; its tokens stop working at once", notice="assistant-disconnected")
async def disconnect_assistant(call: VisitorRequest) -> ModelResponse[SuccessView]:
    """Disconnect an assistant. Raises NotFound."""
    await call.storage.write(assistants.disconnect, call.path_id("assistant_id"), visitor=call.visitor, at=call.at)
    return ModelResponse(SuccessView(success=True))
