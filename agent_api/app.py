"""The agent API: what an agent key may do, the checks before it (key, scope, program), and the table of its routes."""

import json
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.routing import BaseRoute

from presentation import resource_table
from presentation.api_request import NO_PROGRAM, ApiRequest, Result, row_id
from presentation.lists import listing
from presentation.operations import RouteMethod, operation
from presentation.plans import PLAN_RESOURCES
from presentation.resource_table import RESOURCES, Resource, ScopeByBody
from presentation.resources import ProgramView
from presentation.view import View, viewed, with_fields_of
from storage import Storage
from storage.access import agent_keys
from storage.engine.sealing import Sealer
from storage.lists.programs import PROGRAMS
from storage.rules import errors
from storage.rules.scope import Scope
from web import body, client, dry_run
from web.app import now, with_state
from web.counts import Counts
from web.limits import REJECTED, RateLimits, client_of
from web.response import HANDLERS, CreatedResponse, JsonResponse

BASE = "/api/agent/v1"
PROGRAM = f"{BASE}/programs/{{program_id}}"
REPEATED = {body.IDEMPOTENCY_KEY: "A repeat with the same body within 30 days only gets the first response."}


@dataclass(frozen=True, kw_only=True)
class AgentRequest(ApiRequest):
    """A request that its agent key allows."""

    key: agent_keys.AgentKey
    is_dry: bool = False

    async def create(self, row: type[Result], operation: Callable[..., Any], **options: Any) -> CreatedResponse[Result]:
        """Create something; a repeat with its Idempotency-Key gets the first response. Raises IdempotencyKeyReused."""
        sent = self.request.headers.get(body.IDEMPOTENCY_KEY)
        path = self.request.url.path
        repeat = body.repeat_key(sent, path, self.request.state.body)
        if repeat is None:
            return await super().create(row, operation, **options)

        def perform(connection: Any) -> str:
            created = viewed(row).of(operation(connection, self.program_id, **options, by=self.by))
            return created.model_dump_json(exclude_unset=True)

        about = (self.key.id, repeat, perform)
        stored, is_repeat = await self.storage.write_in(self.program_id, agent_keys.once, *about, at=self.at)
        headers = {"Idempotency-Replayed": "true"} if is_repeat else {}
        return CreatedResponse(json.loads(stored), headers)


@with_fields_of(agent_keys.AgentKey, leave_out={"masked", "program_ids", "revoked_at", "last_used_at"})
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
            call = await _authorized(request, scope, is_write=resource.is_write)
            response = await resource.operation.handler(call)
        except (errors.InsufficientScope, errors.OverCap, errors.SecondKeyRequired) as error:
            if dry_run.HEADER not in request.headers:
                await _record(request, error)
            raise
        return dry_run.mark(response) if call.is_dry else response

    scopes = scope.scopes if isinstance(scope, ScopeByBody) else (scope,) if scope else ()
    if CreatedResponse.success in described.responses:
        described = described._replace(
            errors=(errors.IdempotencyKeyReused, *described.errors),
            headers=REPEATED,
            response_headers=("Idempotency-Replayed",),
        )
    if resource.is_write:
        described = described._replace(headers={**described.headers, dry_run.HEADER: dry_run.MEANING})
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


async def _authorized(request: Request, scope: Scope | ScopeByBody | None, *, is_write: bool) -> AgentRequest:
    """Return the request. Raises InvalidKey, WrongKeyType, InsufficientScope, ProgramNotAllowed, in this order."""
    storage: Storage = request.app.state.storage
    at: datetime = request.app.state.clock()
    program_id = _program(request)
    if isinstance(scope, ScopeByBody):
        await _key(request, at, scope=None, program_id=None)  # no body is read for an invalid key
        content = bytes(await body.read_body(request.scope, request.receive))
        request = Request(request.scope, body.replay(content, request.receive))
        scope = scope.choose(content)
    key = await _key(request, at, scope=scope, program_id=program_id)
    is_dry = is_write and dry_run.is_wanted(request.headers.get(dry_run.HEADER))
    if is_dry:
        storage = storage.dry_run
    elif key.last_used_at is None or key.last_used_at <= at - agent_keys.USE_RECORDED_EVERY:
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
        is_dry=is_dry,
    )


async def _key(request: Request, at: datetime, **about: Any) -> agent_keys.AgentKey:
    sent = client.agent_credential(request.headers)
    state = request.app.state
    async with state.limits.guessing(client_of(request.scope), sent):
        key: agent_keys.AgentKey = await state.storage.read(agent_keys.authorize, sent, **about, at=at)
    return key


async def _record(request: Request, error: errors.ServiceError) -> None:
    """Count what the key may not do, where its program can be read."""
    state, program_id = request.app.state, _program(request)
    if program_id is not None:
        about = (client.agent_credential(request.headers), program_id, error)
        with suppress(errors.ProgramNotAllowed, errors.Overloaded, errors.StorageUnavailable, errors.OutcomeUnknown):
            await state.storage.write_in(program_id, agent_keys.add_rejection, *about, at=state.clock())


def _program(request: Request) -> int | None:
    """Return the path's program, NO_PROGRAM for an invalid id, None if the path names none."""
    return (row_id(request.path_params["program_id"]) or NO_PROGRAM) if "program_id" in request.path_params else None


def served(resources: Iterable[Resource]) -> Sequence[BaseRoute]:
    """Return the routes of the resources of a program that are for agents."""
    within = [each._replace(path=PROGRAM + each.path) for each in resources if each.scope]
    return resource_table.routes(within, behind_key)


OWN = (
    Resource("GET", f"{BASE}/me", get_key, None),  # for any agent key
    Resource("GET", f"{BASE}/programs", listing(PROGRAMS, ProgramView), None, Scope.PROGRAMS_READ),
)
ROUTES = [*resource_table.routes(OWN, behind_key), *served([*RESOURCES, *PLAN_RESOURCES])]


def create(
    storage: Storage,
    *,
    base_url: str,
    sealer: Callable[[], Sealer],
    limits: RateLimits | None = None,
    clock: Callable[[], datetime] = now,
    routes: Sequence[BaseRoute] = ROUTES,
) -> Starlette:
    """Return the agent app over an open storage; `limits` counts requests with invalid keys, None: no limit.

    `sealer` opens what the tracking app kept of calls.
    """
    app = Starlette(routes=routes, exception_handlers=HANDLERS)
    limits = limits or RateLimits({REJECTED: None}, Counts())
    return with_state(app, storage=storage, sealer=sealer, base_url=base_url, clock=clock, limits=limits)
