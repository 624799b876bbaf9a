"""The page on which a member connects an assistant: its name, its scopes and its programs."""

from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from storage.access import assistants
from storage.access.assistants import AuthorizationRequest
from storage.access.sessions import Visitor
from storage.lists.declaration import MOST, ListQuery, ListScope
from storage.lists.find import find
from storage.lists.programs import PROGRAMS, ListedProgram
from storage.rules.errors import ValidationError
from storage.rules.scope import Scope
from tracking_api.authorization import redirects, requests
from tracking_api.dashboard import authentication
from tracking_api.dashboard.authentication import storage_of, time_of
from tracking_api.dashboard.pages import forms, notices, templates
from tracking_api.dashboard.pages.forms import Problems
from tracking_api.dashboard.pages.page import lead_forms_to

WORDS = {
    Scope.PROGRAMS_READ: "Programs: settings, integration state and guides",
    Scope.PARTNERS_READ: "Partners: their names and codes",
    Scope.PERFORMANCE_READ: "Performance: clicks, leads, sales and revenue",
    Scope.EVENTS_READ: "Events: single clicks, leads, sales, refunds and rejected calls",
    Scope.CUSTOMERS_READ: "Customers: who they are, and which partner sent them",
    Scope.COMMISSIONS_READ: "Commissions: what each partner earns and was paid",
}


LONGEST = len(str(2**31))


class Group(NamedTuple):
    """A workspace's programs, to choose from."""

    workspace: str
    programs: list[ListedProgram]


async def show_consent(request: Request) -> Response:
    """Show what an assistant requests. Raises NotFound for a request that is not ours or has expired."""
    visitor = await authentication.visitor(request)
    return await _page(request, visitor, _authorization(request), set(), Problems())


async def decide_consent(request: Request) -> Response:
    """Grant the request for the chosen programs, or deny it; the browser returns to the assistant's client."""
    visitor = await authentication.visitor(request)
    form = await forms.read_form(request)
    authorization, issuer = _authorization(request), request.app.state.settings.base_url
    if form.text("decision") != "allow":
        return notices.redirect(
            requests.response_url(
                authorization, issuer, error="access_denied", error_description="The member denied access."
            )
        )
    chosen = {int(sent) for sent in form.each("program") if sent.isascii() and sent.isdigit() and len(sent) < LONGEST}
    try:
        code = await storage_of(request).write(
            assistants.connect, authorization, visitor=visitor, program_ids=sorted(chosen), at=time_of(request)
        )
    except ValidationError as rejection:
        return await _page(request, visitor, authorization, chosen, Problems.of(rejection))
    return notices.redirect(requests.response_url(authorization, issuer, code=code))


def _authorization(request: Request) -> AuthorizationRequest:
    sealer = request.app.state.settings.sealer()
    return requests.unseal(request.path_params["sealed"], sealer, at=time_of(request))


async def _page(
    request: Request, visitor: Visitor, authorization: AuthorizationRequest, chosen: set[int], problems: Problems
) -> Response:
    lead_forms_to(request, redirects.origin(authorization.redirect_uri))
    reach = [each.workspace_id for each in visitor.memberships]
    scope = ListScope(0, time_of(request), workspace_ids=reach)
    programs = await storage_of(request).read(find, PROGRAMS, scope, ListQuery(MOST))
    groups = [
        Group(each.name, [program for program in programs.data if program.workspace_id == each.workspace_id])
        for each in visitor.memberships
    ]
    return templates.render(
        request,
        "consent.html",
        visitor=visitor,
        authorization=authorization,
        scopes=[WORDS[scope] for scope in authorization.scopes],
        returns_here=redirects.is_loopback(authorization.redirect_uri),
        leads_to=redirects.host(authorization.redirect_uri),
        groups=[group for group in groups if group.programs],
        chosen=chosen or ({programs.data[0].id} if len(programs.data) == 1 else set()),
        problems=problems,
    )
