"""An agent's request: the checks before its operation (the key, then its scope, then its program), and repeats."""

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from starlette.requests import Request

from presentation.api_request import NO_PROGRAM, ApiRequest, Result, row_id
from presentation.operations import RouteMethod, operation
from presentation.resource_table import Resource, ScopeByBody
from presentation.view import View, viewed, with_fields_of
from storage import Storage
from storage.access import agent_keys
from storage.access.agent_keys import AgentKey
from storage.rules import errors
from storage.rules.scope import Scope
from web import body, client
from web.limits import client_of
from web.response import CreatedResponse, JsonResponse

REPEATED = {body.IDEMPOTENCY_KEY: "A repeat with the same body within 30 days only gets the first response."}


@dataclass(frozen=True, kw_only=True)
class AgentRequest(ApiRequest):
    """A request that its agent key allows."""

    key: AgentKey

    async def create(self, row: type[Result], operation: Callable[..., Any], **options: Any) -> CreatedResponse[Result]:
        """Create something; a repeat with its Idempotency-Key gets the first response. Raises IdempotencyKeyReused."""
        sent, path = self.request.headers.get(body.IDEMPOTENCY_KEY), self.request.url.path
        repeat = body.repeat_key(sent, path, self.request.state.body)
        if repeat is None:
            return await super().create(row, operation, **options)

        def perform(connection: Any) -> str:
            created = viewed(row).of(operation(connection, self.program_id, **options, actor=self.actor, at=self.at))
            return created.model_dump_json(exclude_unset=True)

        about = (self.key.id, repeat, perform)
        stored, is_repeat = await self.storage.write_in(self.program_id, agent_keys.once, *about, at=self.at)
        headers = {"Idempotency-Replayed": "true"} if is_repeat else {}
        return CreatedResponse[Result].stored(json.loads(stored), headers)


@with_fields_of(AgentKey, leave_out={"masked", "program_ids", "revoked_at", "last_used_at"})
class AgentKeyView(View):
    """The agent key; `programs` null means every program of the workspace."""

    programs: list[int] | None


@operation()
async def get_key(call: AgentRequest) -> AgentKeyView:
    """Return the presented key, its scopes and its programs."""
    return AgentKeyView.of(call.key._asdict() | {"programs": call.key.program_ids})


def behind_key(resource: Resource) -> RouteMethod:
    """Return a resource's operation behind a key with its scope; what creates something can be repeated."""
    scope, described, name = resource.scope, resource.operation.description, resource.operation.description.name

    async def handle(request: Request) -> JsonResponse:
        try:
            return await perform(request)
        except (errors.InsufficientScope, errors.OverCap, errors.SecondKeyRequired) as error:
            await _record(request, error)
            raise

    async def perform(request: Request) -> JsonResponse:
        if not isinstance(scope, ScopeByBody):
            return await resource.operation.handler(await _authorized(request, scope))
        await _key(request, scope=None, program_id=None)  # no body is read for an invalid key
        content = bytes(await body.read_body(request.scope, request.receive))
        again = Request(request.scope, body.replay(content, request.receive))
        return await resource.operation.handler(await _authorized(again, scope.choose(content)))

    scopes = scope.scopes if isinstance(scope, ScopeByBody) else (scope,) if scope else ()
    if CreatedResponse.success in described.responses:
        described = described._replace(
            errors=(errors.IdempotencyKeyReused, *described.errors),
            headers=REPEATED,
            response_headers=("Idempotency-Replayed",),
        )
    description = described.behind(
        *(errors.InvalidKey, errors.WrongKeyType, errors.RateLimited),
        *((errors.InsufficientScope,) if scopes else ()),
        *((errors.ProgramNotAllowed,) if "{program_id}" in resource.path else ()),
        security=[{"agentKey": (each,)} for each in scopes] or [{"agentKey": ()}],
        name=f"agent{name[0].upper()}{name[1:]}",
        description=f"Scope: {' or '.join(scopes)}." if scopes else "Any agent key.",
        tag="agents",
    )
    return RouteMethod(handle, description)


async def _authorized(request: Request, scope: Scope | None) -> AgentRequest:
    """Return the request. Raises InvalidKey, WrongKeyType, InsufficientScope, ProgramNotAllowed, in this order."""
    storage: Storage = request.app.state.storage
    at: datetime = request.app.state.clock()
    program_id = _program(request)
    key = await _key(request, scope=scope, program_id=program_id)
    if key.last_used_at is None or key.last_used_at <= at - agent_keys.USE_RECORDED_EVERY:
        with suppress(errors.Overloaded, errors.StorageUnavailable, errors.OutcomeUnknown):  # the next call records it
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
    state = request.app.state
    sent = client.agent_credential(request.headers.get("authorization"), request.headers.get("x-agent-key"))
    about = {"scope": scope, "program_id": program_id, "at": state.clock()}
    async with state.limits.guessing(client_of(request.scope), sent):
        key: AgentKey = await state.storage.read(agent_keys.authorize, sent, **about)
    return key


async def _record(request: Request, error: errors.ServiceError) -> None:
    """Count what the key may not do, where its program can be read."""
    state, program_id = request.app.state, _program(request)
    sent = client.agent_credential(request.headers.get("authorization"), request.headers.get("x-agent-key"))
    if program_id is not None:
        with suppress(errors.ProgramNotAllowed, errors.Overloaded, errors.StorageUnavailable, errors.OutcomeUnknown):
            await state.storage.write_in(
                program_id, agent_keys.add_rejection, sent, program_id, error, at=state.clock()
            )


def _program(request: Request) -> int | None:
    """Return the path's program, NO_PROGRAM for an invalid id, None if the path names none."""
    return (row_id(request.path_params["program_id"]) or NO_PROGRAM) if "program_id" in request.path_params else None
