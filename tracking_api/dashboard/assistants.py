"""Connected assistants: GET /api/assistants, DELETE /api/assistants/:id, and the pages, also the one that connects."""

from collections.abc import Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from presentation.api_request import row_id
from presentation.operations import operation
from storage.access import assistants
from storage.access.assistants import Assistant, AuthorizationRequest
from storage.lists.declaration import MOST, ListQuery
from storage.lists.find import find
from storage.lists.programs import PROGRAMS, Program
from storage.rules.errors import ValidationError
from storage.rules.scope import Scope
from tracking_api.authorization import redirects
from tracking_api.dashboard.authentication import VisitorRequest, visitor_request
from tracking_api.dashboard.pages import forms, notices, templates
from tracking_api.dashboard.pages.buttons import Button, FormPage, Question, elsewhere
from tracking_api.dashboard.pages.forms import Problems
from tracking_api.dashboard.pages.templates import HEADERS, POLICY

WORDS = {
    Scope.PROGRAMS_READ: "Programs: settings, integration state and guides",
    Scope.PARTNERS_READ: "Partners: their names and codes",
    Scope.PERFORMANCE_READ: "Performance: clicks, leads, sales and revenue",
    Scope.EVENTS_READ: "Events: single clicks, leads, sales, refunds and rejected calls",
    Scope.CUSTOMERS_READ: "Customers: who they are, and which partner sent them",
    Scope.COMMISSIONS_READ: "Commissions: what each partner earns and was paid",
}


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
        names={program.id: program.name for program in await _programs_of(call)},
        mcp_url=f"{call.base_url}/mcp",
        words=WORDS,
    )


async def show_consent(request: Request) -> Response:
    """Show what an assistant redirects. Raises NotFound for a request that is not ours or has expired."""
    call = await visitor_request(request)
    return await _page(call, _authorization(call), set(), Problems())


async def decide_consent(request: Request) -> Response:
    """Grant the request for the chosen programs, or deny it; the browser returns to the assistant's client."""
    call, form = await visitor_request(request), await forms.read_form(request)
    authorization = _authorization(call)
    if form.text("decision") != "allow":
        denied = {"error": "access_denied", "error_description": "The member denied access."}
        return notices.redirect(redirects.response_url(authorization, call.base_url, **denied))
    chosen = {each for sent in form.each("program") if (each := row_id(sent))}
    grant: dict[str, Any] = {"visitor": call.visitor, "program_ids": sorted(chosen), "at": call.at}
    try:
        code = await call.storage.write(assistants.connect, authorization, **grant)
    except ValidationError as rejection:
        return await _page(call, authorization, chosen, Problems.of(rejection))
    return notices.redirect(redirects.response_url(authorization, call.base_url, code=code))


def _authorization(call: VisitorRequest) -> AuthorizationRequest:
    return redirects.unseal(call.path_name("sealed"), call.request.app.state.settings.sealer(), at=call.at)


async def _programs_of(call: VisitorRequest) -> Sequence[Program]:
    """Return the programs of all workspaces of a member."""
    return (await call.storage.read(find, PROGRAMS, call.scope, ListQuery(MOST))).data


async def _page(
    call: VisitorRequest, authorization: AuthorizationRequest, chosen: set[int], problems: Problems
) -> Response:
    # The form ends at the client's origin: browsers also check the redirects of a form's response.
    policy = f"{POLICY} {redirects.origin(authorization.redirect_uri)}".encode()
    call.request.scope["extra_headers"] = ((HEADERS[0][0], policy), *HEADERS[1:])
    programs = await _programs_of(call)
    return templates.render(
        call.request,
        "consent.html",
        visitor=call.visitor,
        authorization=authorization,
        is_documented=authorization.client_id.startswith("https://"),  # otherwise its name is only a claim
        scopes=[WORDS[scope] for scope in authorization.scopes],
        returns_here=redirects.is_loopback(authorization.redirect_uri),
        leads_to=redirects.host(authorization.redirect_uri),
        programs=programs,
        chosen=chosen or ({programs[0].id} if len(programs) == 1 else set()),
        problems=problems,
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
    viewer=visitor_request,
)
