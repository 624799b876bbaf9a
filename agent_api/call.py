"""The checks before an agent call's handler: the key, then its scope, then its program."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

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
from web import body, client
from web.response import JsonResponse


@dataclass(frozen=True, kw_only=True)
class AgentRequest(ApiRequest):
    """A request that its agent key allows."""

    key: AgentKey


class ScopeByBody(NamedTuple):
    """The scope that a body needs, the scopes that there are, and what says so to readers."""

    choose: Callable[[bytes], Scope]
    scopes: tuple[Scope, ...]
    description: str


Needed = Scope | ScopeByBody | None


def scoped(path: str, **handlers: tuple[Needed, Operation[AgentRequest]]) -> DescribedRoute:
    """Return a route; each handler has the scope that its callers need (None: any agent key)."""
    return route(path, **{method: _behind_key(path, scope, handler) for method, (scope, handler) in handlers.items()})


def _behind_key(path: str, scope: Needed, operation: Operation[AgentRequest]) -> Operation[Request]:
    async def handle(request: Request) -> JsonResponse:
        if not isinstance(scope, ScopeByBody):
            return await operation.handler(await _authorized(request, scope))
        await _key(request, scope=None, program_id=None)  # no body is read for an invalid key
        content = bytes(await body.read_body(request.scope, request.receive))
        again = Request(request.scope, body.replay(content, request.receive))
        return await operation.handler(await _authorized(again, scope.choose(content)))

    scopes = scope.scopes if isinstance(scope, ScopeByBody) else (scope,) if scope else ()
    described, name = operation.description, operation.description.name
    description = described.behind(
        *(InvalidKey, WrongKeyType),
        *((InsufficientScope,) if scopes else ()),
        *((ProgramNotAllowed,) if "{program_id}" in path else ()),
        security=[{"agentKey": (each,)} for each in scopes] or [{"agentKey": ()}],
        name=f"agent{name[0].upper()}{name[1:]}",
        description=_explained(scope),
        tag="agents",
    )
    return Operation(handle, description)


def _explained(scope: Needed) -> str:
    if isinstance(scope, ScopeByBody):
        return scope.description
    return f"Scope: {scope}." if scope else "Any agent key."


async def _authorized(request: Request, scope: Scope | None) -> AgentRequest:
    """Return the request. Raises InvalidKey, WrongKeyType, InsufficientScope, ProgramNotAllowed, in this order."""
    storage: Storage = request.app.state.storage
    at: datetime = request.app.state.clock()
    program_id = _program(request)
    key = await _key(request, scope=scope, program_id=program_id)
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
        scopes=key.scopes,
        key=key,
    )


async def _key(request: Request, *, scope: Scope | None, program_id: int | None) -> AgentKey:
    key: AgentKey = await request.app.state.storage.read(
        agent_keys.authorize,
        client.agent_credential(request.headers.get("authorization"), request.headers.get("x-agent-key")),
        scope=scope,
        program_id=program_id,
        at=request.app.state.clock(),
    )
    return key


def _program(request: Request) -> int | None:
    """Return the path's program, NO_PROGRAM for an invalid id, None if the path names none."""
    return (row_id(request, "program_id") or NO_PROGRAM) if "program_id" in request.path_params else None
