"""Connected assistants: GET /api/assistants, DELETE /api/assistants/:id, and the page.

A member sees and disconnects their own, an owner all those of their workspaces.
"""

from datetime import datetime

from starlette.requests import Request
from starlette.responses import Response

from presentation.actions import action
from presentation.operations import operation
from presentation.view import SUCCESS, ListView, SuccessView, View
from storage.access import assistants
from storage.rules.scope import Scope
from tracking_api.dashboard.pages import consent, templates
from tracking_api.dashboard.pages.buttons import SIGNED_IN, Button, FormPage, Question, elsewhere
from tracking_api.dashboard.roles import VisitorRequest, visitor_request
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


@operation("The assistants that a member may see, newest first: their own, and all in workspaces that they own")
async def list_assistants(call: VisitorRequest) -> ModelResponse[ListView[ConnectedAssistantView]]:
    """List the connected assistants."""
    listed = await call.storage.read(assistants.list_assistants, call.visitor, at=call.at)
    return ModelResponse(ListView[ConnectedAssistantView].of_rows(listed))


@action("Disconnect an assistant; its tokens stop working at once", notice="assistant-disconnected")
async def disconnect_assistant(call: VisitorRequest) -> ModelResponse[SuccessView]:
    """Disconnect an assistant. Raises NotFound."""
    await call.storage.write(assistants.disconnect, call.path_id("assistant_id"), visitor=call.visitor, at=call.at)
    return ModelResponse(SUCCESS)


async def show_assistants(request: Request) -> Response:
    """List the assistants and show how to connect one more."""
    call = await visitor_request(request)
    connected = await call.storage.read(assistants.list_assistants, call.visitor, at=call.at)
    return templates.render(
        request,
        "assistants.html",
        visitor=call.visitor,
        connected=connected,
        names={program.id: program.name for program in await consent.programs_of(call)},
        mcp_url=f"{call.base_url}/mcp",
        words=consent.WORDS,
    )


DISCONNECT = FormPage(
    elsewhere,
    Button(
        disconnect_assistant,
        then="/assistants",
        question=Question(
            "Disconnect", "The assistant cannot read anything any more. To connect it again, start in the assistant."
        ),
    ),
    who=SIGNED_IN,
)
