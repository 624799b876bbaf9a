"""Who may call a handler: any signed-in member, or those of the path's workspace or program with certain roles."""

from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from typing import Any, TypeVar

from starlette.requests import Request

from presentation.api_request import ApiRequest, path_id
from presentation.operations import Operation, RouteMethod
from storage.access.sessions import Visitor
from storage.access.workspaces import ANYONE, Role
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


async def visitor_request(request: Request, _: Collection[Role] = ANYONE) -> VisitorRequest:
    """Return the request of a signed-in member, whatever their roles. Raises Forbidden."""
    visitor = await authentication.visitor(request)
    reach = [each.workspace_id for each in visitor.memberships]
    return VisitorRequest(**_about(request, visitor), workspace_ids=reach, visitor=visitor)


def workspace_request(request: Request, by: Visitor, workspace_id: int) -> WorkspaceRequest:
    """Return the request of a member of a workspace."""
    here: Any = {"workspace_ids": (workspace_id,), "workspace_id": workspace_id, "user_id": by.user_id}
    return WorkspaceRequest(**_about(request, by), **here)


def program_request(request: Request, member: Visitor) -> ApiRequest:
    """Return the request of a member of a program."""
    here: Any = {"workspace_ids": (member.workspace.workspace_id,), "program_id": member.program_id}
    return ApiRequest(**_about(request, member), **here)


def _about(request: Request, who: Visitor) -> dict[str, Any]:
    return {"request": request, "storage": storage_of(request), "at": time_of(request), "actor": who.actor}


async def of_workspace(request: Request, roles: Collection[Role]) -> WorkspaceRequest:
    """Return the request of a member of the path's workspace. Raises Forbidden, OwnerRequired."""
    visitor = await authentication.visitor(request)
    workspace_id = path_id(request, "workspace_id")
    visitor.require_workspace(workspace_id, roles)
    return workspace_request(request, visitor, workspace_id)


async def of_program(request: Request, roles: Collection[Role]) -> ApiRequest:
    """Return the request of a member of the path's program. Raises Forbidden, OwnerRequired."""
    return program_request(request, await authentication.member(request, roles))


def behind(
    operation: Operation[Call],
    identify: Callable[[Request, Collection[Role]], Awaitable[Call]],
    roles: Collection[Role] = ANYONE,
) -> RouteMethod:
    """Return an operation for members with these roles alone. It raises Forbidden, and OwnerRequired for the others."""

    async def handle(request: Request) -> JsonResponse:
        return await operation.handler(await identify(request, roles))

    limits: Any = ((Forbidden,), ()) if roles == ANYONE else ((Forbidden, OwnerRequired), sorted(roles))
    errors, named = limits
    return RouteMethod(
        handle, operation.description.behind(*errors, security=({"session": named},), description=COOKIE)
    )
