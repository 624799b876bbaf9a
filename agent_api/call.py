"""The checks before an agent call's handler: the key, then its scope, then its program."""

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from starlette.requests import Request

from presentation.api_request import NO_PROGRAM, ApiRequest, row_id
from presentation.operations import DescribedRoute, Operation, route
from storage import Storage
from storage.access import agent_keys
from storage.access.agent_keys import AgentKey
from storage.rules.errors import (
    InsufficientScope,
    InvalidKey,
    OutcomeUnknown,
    Overloaded,
    ProgramNotAllowed,
    StorageUnavailable,
    WrongKeyType,
)
from storage.rules.scope import Scope
from web import credentials
from web.response import JsonResponse


@dataclass(frozen=True, kw_only=True)
class AgentRequest(ApiRequest):
    """A request that its agent key allows."""

    key: AgentKey


def scoped(path: str, **handlers: tuple[Scope | None, Operation[AgentRequest]]) -> DescribedRoute:
    """Return a route; each handler has the scope that its callers need (None: any agent key)."""
    return route(path, **{method: _behind_key(path, scope, handler) for method, (scope, handler) in handlers.items()})


def _behind_key(path: str, scope: Scope | None, operation: Operation[AgentRequest]) -> Operation[Request]:
    async def handle(request: Request) -> JsonResponse:
        return await operation.handler(await _authorized(request, scope))

    described, name = operation.description, operation.description.name
    description = described.behind(
        *(InvalidKey, WrongKeyType),
        *((InsufficientScope,) if scope else ()),
        *((ProgramNotAllowed,) if "{program_id}" in path else ()),
        security=({"agentKey": (scope,) if scope else ()},),
        name=f"agent{name[0].upper()}{name[1:]}",
        description=f"Scope: {scope}." if scope else "Any agent key.",
        tag="agents",
    )
    return Operation(handle, description)


async def _authorized(request: Request, scope: Scope | None) -> AgentRequest:
    """Return the request. Raises InvalidKey, WrongKeyType, InsufficientScope, ProgramNotAllowed, in this order."""
    storage: Storage = request.app.state.storage
    at: datetime = request.app.state.clock()
    program_id = _program(request)
    key = await storage.read(
        agent_keys.authorize,
        credentials.agent_credential(request.headers.get("authorization"), request.headers.get("x-agent-key")),
        scope=scope,
        program_id=program_id,
        at=at,
    )
    if key.use_is_due(at):
        with suppress(Overloaded, StorageUnavailable, OutcomeUnknown):  # the next call records it
            await storage.write(agent_keys.touch, key.id, at=at)
    return AgentRequest(
        request=request,
        storage=storage,
        at=at,
        actor=key.actor,
        workspace_ids=(key.workspace_id,),
        program_ids=key.program_ids,
        program_id=program_id or NO_PROGRAM,
        key=key,
    )


def _program(request: Request) -> int | None:
    """Return the path's program, NO_PROGRAM for an invalid id, None if the path names none."""
    return (row_id(request, "program_id") or NO_PROGRAM) if "program_id" in request.path_params else None
