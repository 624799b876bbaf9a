"""Connected assistants: a member sees and disconnects their own, an owner all those of their workspaces."""

from starlette.requests import Request
from starlette.responses import Response

from storage.access import assistants
from storage.lists.declaration import MOST, ListQuery, ListScope
from storage.lists.find import find
from storage.lists.programs import PROGRAMS
from tracking_api.dashboard.assistants import disconnect_assistant
from tracking_api.dashboard.pages import buttons, templates
from tracking_api.dashboard.pages.buttons import Button
from tracking_api.dashboard.pages.confirmation import Question
from tracking_api.dashboard.pages.consent import WORDS
from tracking_api.dashboard.roles import visitor_request

DISCONNECT = Button(
    disconnect_assistant,
    then="/assistants",
    question=Question(
        "Disconnect", "The assistant cannot read anything any more. To connect it again, start in the assistant."
    ),
)


async def list_assistants(request: Request) -> Response:
    """List the assistants and show how to connect one more."""
    call = await visitor_request(request)
    connected = await call.storage.read(assistants.list_assistants, call.visitor, at=call.at)
    scope = ListScope(0, call.at, workspace_ids=call.workspace_ids)
    programs = await call.storage.read(find, PROGRAMS, scope, ListQuery(MOST))
    return templates.render(
        request,
        "assistants.html",
        visitor=call.visitor,
        connected=connected,
        names={program.id: program.name for program in programs.data},
        mcp_url=f"{call.base_url}/mcp",
        words=WORDS,
    )


async def disconnect(request: Request) -> Response:
    """Disconnect an assistant. Raises NotFound."""
    call = await visitor_request(request)
    return await buttons.press(DISCONNECT, call, visitor=call.visitor)
