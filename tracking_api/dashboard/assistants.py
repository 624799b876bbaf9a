"""Connected assistants: GET /api/assistants, DELETE /api/assistants/:id, and the page.

A member sees and disconnects their own, an owner all those of their workspaces.
"""

from starlette.requests import Request
from starlette.responses import Response

from presentation.operations import operation
from storage.access import assistants
from storage.access.assistants import Assistant
from tracking_api.dashboard.authentication import VisitorRequest, visitor_request
from tracking_api.dashboard.pages import consent, templates
from tracking_api.dashboard.pages.buttons import SIGNED_IN, Button, FormPage, Question, elsewhere


@operation()
async def list_assistants(call: VisitorRequest) -> list[Assistant]:
    """List the assistants that a member may see, newest first: their own, and all in workspaces that they own."""
    return await call.storage.read(assistants.list_assistants, call.visitor, at=call.at)


@operation(notice="assistant-disconnected")
async def disconnect_assistant(call: VisitorRequest) -> None:
    """Disconnect an assistant; its tokens stop working at once."""
    await call.storage.write(assistants.disconnect, call.path_id("assistant_id"), visitor=call.visitor, at=call.at)


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
