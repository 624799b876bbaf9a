"""Who may call a handler: any signed-in member, a member of the path's program, or an owner of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request

from presentation.api_request import ApiRequest
from presentation.operations import Description, Error, Operation
from storage.access.sessions import Member, Visitor
from storage.rules.errors import Forbidden, OwnerRequired
from tracking_api.dashboard import authentication
from tracking_api.dashboard.authentication import storage_of, time_of
from web.response import JsonResponse

COOKIE = (
    "The cookie `svc_session` of our own pages (over https `__Host-svc_session`) is accepted in place of the header."
)


@dataclass(frozen=True, kw_only=True)
class VisitorRequest(ApiRequest):
    """A request of a signed-in member."""

    visitor: Visitor


async def visitor_request(request: Request) -> VisitorRequest:
    """Return the request of a signed-in member. Raises Forbidden."""
    visitor = await authentication.visitor(request)
    return VisitorRequest(
        request=request,
        storage=storage_of(request),
        at=time_of(request),
        actor=visitor.actor,
        workspace_ids=[each.workspace_id for each in visitor.memberships],
        visitor=visitor,
    )


def signed_in(operation: Operation[VisitorRequest]) -> Operation[Request]:
    """Return the operation for signed-in members. It raises Forbidden for others."""

    async def handle(request: Request) -> JsonResponse:
        return await operation.handler(await visitor_request(request))

    return Operation(handle, _behind_session(operation))


def member(operation: Operation[ApiRequest]) -> Operation[Request]:
    """Return the operation for members of the path's program. It raises Forbidden for others."""

    async def handle(request: Request) -> JsonResponse:
        return await operation.handler(_as_member(await authentication.member(request), request))

    return Operation(handle, _behind_session(operation))


def owner(operation: Operation[ApiRequest]) -> Operation[Request]:
    """Return the operation for owners of the path's program. It raises Forbidden, or OwnerRequired for a member."""

    async def handle(request: Request) -> JsonResponse:
        return await operation.handler(_as_member(await authentication.owner(request), request))

    return Operation(handle, _behind_session(operation, OwnerRequired, roles=("owner",)))


def _behind_session(operation: Operation[Any], *errors: Error, roles: Sequence[str] = ()) -> Description:
    return operation.description.behind(Forbidden, *errors, security=({"session": roles},), description=COOKIE)


def _as_member(member: Member, request: Request) -> ApiRequest:
    return ApiRequest(
        request=request,
        storage=storage_of(request),
        at=time_of(request),
        actor=member.actor,
        workspace_ids=(member.workspace_id,),
        program_id=member.program_id,
    )
