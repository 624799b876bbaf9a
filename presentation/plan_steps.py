"""Steps of plans: any action of the resource table, found by its path or its name, and run within one transaction.

An action runs as a request runs it: with the same input model, rights and storage operations.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import unquote

from pydantic_core import to_json
from starlette.routing import compile_path

from presentation.api_request import ApiRequest
from presentation.resource_table import OWNER, PROGRAM_BY_AGENT, RESOURCES, Resource, ScopeByBody
from storage import OneTransaction
from storage.access import workspaces
from storage.engine import audit
from storage.management.agent_caps import USES
from storage.rules import errors
from storage.rules.agent_caps import added_up
from storage.rules.scope import Scope

ACTIONS = (
    Resource("PATCH", "", PROGRAM_BY_AGENT, OWNER, Scope.PROGRAMS_WRITE),  # for members, too: what is an owner's alone
    *(each for each in RESOURCES if each.is_write),  # cannot be taken back by an agent
)


class PlanStep(NamedTuple):
    """One action of a plan, by its method and its path below the program's."""

    method: str
    path: str
    body: Mapping[str, Any]

    def resources(self, *, of_members: bool) -> list[tuple[Resource, dict[str, str]]]:
        """Return the action in the table with the ids of its path; none if there is no such action."""
        named = [each for each in ACTIONS if each.method == self.method and (each.roles if of_members else each.scope)]
        matched = ((each, compile_path(each.path)[0].match(self.path)) for each in named)
        return [(each, found.groupdict()) for each, found in matched if found]

    def action(self, call: ApiRequest) -> tuple[Resource, dict[str, str]]:
        """Return the action if the caller may use it. Raises ValidationError, InsufficientScope, OwnerRequired."""
        found = self.resources(of_members=call.role is not None)
        if not found:
            raise errors.ValidationError(f"{self.method} {self.path} is no action that a plan can have.")
        resource = found[0][0]
        scope = resource.scope.choose(to_json(self.body)) if isinstance(resource.scope, ScopeByBody) else resource.scope
        if call.role is not None:
            workspaces.require(call.role, resource.roles or ())
        elif scope not in (call.scopes or ()):
            raise errors.InsufficientScope(required_scope=scope)
        return found[0]


def step_of(call: ApiRequest, sent: Mapping[str, Any]) -> PlanStep:
    """Return the step that names its `method` and `path`, or its `action` and `subject`. Raises as `action` does."""
    if name := sent.get("action"):
        named = (each for each in ACTIONS if name in {each.operation.description.name, each.operation.perform.__name__})
        if (resource := next(named, None)) is None:
            raise errors.ValidationError(f"{name} is no action that a plan can have.")
        path = resource.path.format_map(dict.fromkeys(compile_path(resource.path)[2], sent.get("subject")))
        step = PlanStep(resource.method, path, sent.get("input") or {})
    else:
        path = re.sub(rf"^/api/(?:agent/v1/)?programs/{call.program_id}(?=/|$)", "", unquote(sent["path"]))
        step = PlanStep(sent["method"], path, sent.get("body") or {})
    step.action(call)
    return step


def approvers(steps: Sequence[PlanStep]) -> list[str]:
    """Return the roles of those who may approve every step."""
    roles = [resource.roles or () for step in steps for resource, _ in step.resources(of_members=True)[:1]]
    return [role for role in workspaces.Role if all(role in each for each in roles)]


class StepsResult(NamedTuple):
    """What steps change and use of the caps of agent keys; steps that `failed`, the last at which they end."""

    diff: list[dict[str, Any]]
    caps_used: list[dict[str, Any]]
    failed: list[tuple[int, errors.ServiceError]]


def run(connection: Any, call: ApiRequest, steps: Sequence[PlanStep], *actors: audit.Actor) -> StepsResult:
    """Run steps in a running write as an actor; one that is beyond the caps of an actor as the next."""
    failed = []
    with audit.collected(connection) as changes, audit.collected(connection, USES) as uses:
        for number, step in enumerate(steps, 1):
            for actor in actors:
                error = _perform(connection, call, step, actor)
                failed += [(number, error)] if error else []
                if not isinstance(error, errors.OverCap):
                    break
            if error:
                break
    diff, used = (json.loads(json.dumps([each._asdict() for each in rows])) for rows in (changes, added_up(uses)))
    return StepsResult(diff, used, failed)


def _perform(connection: Any, call: ApiRequest, step: PlanStep, actor: audit.Actor) -> errors.ServiceError | None:
    """Perform a step as an actor; return the error of one that failed, which changed nothing."""
    resource, ids = step.action(call)
    about: Any = {"request": call.request, "at": call.at, "actor": actor, "program_id": call.program_id}
    work = resource.operation.submit(ApiRequest(storage=OneTransaction(connection), named=ids, **about), step.body)
    savepoint = connection.begin_nested()
    try:
        work.send(None)  # a coroutine, which waits for nothing but this transaction
    except StopIteration:
        savepoint.commit()
    except errors.ServiceError as error:
        savepoint.rollback()
        return error
    return None
