"""Who may call a handler: any signed-in member, a member or an owner of the path's workspace or of its program."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from starlette.requests import Request

from presentation.api_request import ApiRequest, path_id
from presentation.operations import Error, Operation
from storage.access.sessions import Member, Visitor
from storage.rules.errors import Forbidden, OwnerRequired
from tracking_api.dashboard import authentication
from tracking_api.dashboard.authentication import storage_of, time_of
from web.response import JsonResponse

COOKIE = (
    "The cookie `svc_session` of our own pages (over https `__Host-svc_session`) is accepted in place of the header."
)
Call = TypeVar("Call", bound=ApiRequest)


@dataclass(frozen=True, kw_only=True)
class VisitorRequest(ApiRequest):
    """A request of a signed-in member."""

    visitor: Visitor


@dataclass(frozen=True, kw_only=True)
class WorkspaceRequest(ApiRequest):
    """A request of a member of a workspace, or of an owner where the route says so."""

    workspace_id: int
    user_id: int

    @property
    def subject_id(self) -> int:
        """The workspace."""
        return self.workspace_id


async def visitor_request(request: Request) -> VisitorRequest:
    """Return the request of a signed-in member. Raises Forbidden."""
    visitor = await authentication.visitor(request)
    reach = [each.workspace_id for each in visitor.memberships]
    return VisitorRequest(**_about(request, visitor), workspace_ids=reach, visitor=visitor)


def workspace_request(request: Request, by: Visitor | Member, workspace_id: int) -> WorkspaceRequest:
    """Return the request of a member of a workspace."""
    here: Any = {"workspace_ids": (workspace_id,), "workspace_id": workspace_id, "user_id": by.user_id}
    return WorkspaceRequest(**_about(request, by), **here)


def program_request(request: Request, member: Member) -> ApiRequest:
    """Return the request of a member of a program."""
    here: Any = {"workspace_ids": (member.workspace_id,), "program_id": member.program_id}
    return ApiRequest(**_about(request, member), **here)


def _about(request: Request, who: Visitor | Member) -> dict[str, Any]:
    return {"request": request, "storage": storage_of(request), "at": time_of(request), "actor": who.actor}


async def _of_workspace(request: Request, *, owner: bool = False) -> WorkspaceRequest:
    visitor = await authentication.visitor(request)
    workspace_id = path_id(request, "workspace_id")
    visitor.require_workspace(workspace_id, owner=owner)
    return workspace_request(request, visitor, workspace_id)


async def _of_program(request: Request, *, owner: bool = False) -> ApiRequest:
    return program_request(request, await authentication.member(request, owner=owner))


def _role(
    identify: Callable[[Request], Awaitable[Call]], *errors: Error, roles: Sequence[str] = ()
) -> Callable[[Operation[Call]], Operation[Request]]:
    """Return what makes an operation one for these callers alone. It raises Forbidden for others, or the errors."""
    security: Any = ({"session": roles},)

    def behind(operation: Operation[Call]) -> Operation[Request]:
        async def handle(request: Request) -> JsonResponse:
            return await operation.handler(await identify(request))

        described = operation.description.behind(Forbidden, *errors, security=security, description=COOKIE)
        return Operation(handle, described)

    return behind


signed_in = _role(visitor_request)
workspace_member = _role(_of_workspace)
workspace_owner = _role(partial(_of_workspace, owner=True), OwnerRequired)
member = _role(_of_program)
owner = _role(partial(_of_program, owner=True), OwnerRequired, roles=("owner",))
