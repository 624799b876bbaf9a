"""Connected assistants: a member sees and disconnects their own, an owner all those of their workspaces."""

from starlette.requests import Request
from starlette.responses import Response

from presentation.api_request import path_id
from storage.access import assistants
from storage.lists.declaration import MOST, ListQuery, ListScope
from storage.lists.find import find
from storage.lists.programs import PROGRAMS
from tracking_api.dashboard import authentication
from tracking_api.dashboard.authentication import storage_of, time_of
from tracking_api.dashboard.pages import confirmation, forms, notices, templates
from tracking_api.dashboard.pages.confirmation import Question
from tracking_api.dashboard.pages.consent import WORDS
from tracking_api.dashboard.pages.page import redirect

PATH = "/assistants"
DISCONNECT = Question(
    "Disconnect", "The assistant cannot read anything any more. To connect it again, start in the assistant.", PATH
)


async def list_assistants(request: Request) -> Response:
    """List the assistants and show how to connect one more."""
    visitor = await authentication.visitor(request)
    connected = await storage_of(request).read(assistants.list_assistants, visitor, at=time_of(request))
    reach = [each.workspace_id for each in visitor.memberships]
    scope = ListScope(0, time_of(request), workspace_ids=reach)
    programs = await storage_of(request).read(find, PROGRAMS, scope, ListQuery(MOST))
    return templates.render(
        request,
        "assistants.html",
        visitor=visitor,
        connected=connected,
        names={program.id: program.name for program in programs.data},
        mcp_url=f"{request.app.state.settings.base_url}/mcp",
        words=WORDS,
    )


async def disconnect_assistant(request: Request) -> Response:
    """Disconnect an assistant. Raises NotFound."""
    visitor = await authentication.visitor(request)
    form = await forms.read_form(request)
    assistant_id = path_id(request, "assistant_id")
    if not confirmation.is_given(form):
        return confirmation.ask(request, form, DISCONNECT, visitor=visitor)
    await storage_of(request).write(assistants.disconnect, assistant_id, visitor=visitor, at=time_of(request))
    return notices.leave(redirect(PATH), "assistant-disconnected")
