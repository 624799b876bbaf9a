"""Plans: what members and agents propose, approve, decline and revert; each is applied whole or not at all."""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Annotated, Any, Literal, Self

from pydantic import AwareDatetime, Field, JsonValue, model_validator
from pydantic_core import PydanticCustomError, to_json

from presentation import backtests, plan_diffs
from presentation.api_request import ApiRequest, row_id
from presentation.lists import listing
from presentation.operations import operation
from presentation.plan_steps import PlanStep, StepsResult, approvers, run, step_of
from presentation.resource_table import DECIDER, MEMBER, Resource
from presentation.settings_models import Name
from presentation.view import view_of
from storage.engine.audit import OPERATOR, Actor, By
from storage.lists.plans import PLANS, Plan, PlanStatus
from storage.management import agent_caps, plans
from storage.management.plans import LASTS
from storage.reports.backtest_result import BacktestResult
from storage.rules import errors
from storage.rules.draft import DraftChange
from storage.rules.scope import Scope
from storage.rules.settings import BY_NAME
from web import body
from web.body import Body, Identifier, Url
from web.response import CreatedResponse

PRICED_DAYS = 30
_OF_TERMS = re.compile(r"|/partners/(\d+)/terms|/partner-groups/([^/]+)/terms")
BacktestView = view_of(BacktestResult)
PREPARED = "a prepared plan"  # what a link is sealed for
REFUSED = (
    errors.Forbidden,
    errors.InsufficientScope,
    errors.OverCap,
    errors.OwnerRequired,
    errors.PlanExpired,
    errors.PreconditionFailed,
)


class PlannedChange(Body):
    """An action: its `method`, `path` and `body`, or its `action` (such as change_partner), `subject` and `input`."""

    method: Literal["POST", "PATCH", "PUT", "DELETE"] | None = None
    path: Url | Literal[""] | None = None
    body: Annotated[dict[str, JsonValue], Field(default_factory=dict)]
    action: Identifier | None = None
    subject: Annotated[int, Field(ge=1, le=2**53)] | None = None
    input: Annotated[dict[str, JsonValue], Field(default_factory=dict)]

    @model_validator(mode="after")
    def _is_named(self) -> Self:
        if self.action is None and (self.method is None or self.path is None):
            raise PydanticCustomError("not_an_action", "A change has a method and a path, or an action")
        return self


class NewPlan(Body):
    """Actions that are applied together, with the reason for them."""

    changes: Annotated[list[PlannedChange], Field(min_length=1, max_length=50)]
    reason: Name
    expires_in_hours: Annotated[int, Field(ge=1, le=720)] = 72


class PlanApproval(Body):
    """When an approved plan is applied: at once, or `at` a time within the next 366 days."""

    may_be_absent = True

    at: AwareDatetime | None = None


@operation(errors.RateLimited, *REFUSED, notice="plan-sent")
async def create_plan(call: ApiRequest, sent: NewPlan) -> CreatedResponse[Plan]:
    """Propose actions that are approved and applied together."""
    steps = [step_of(call, each.model_dump()) for each in sent.changes]
    expires_at = call.at + timedelta(hours=sent.expires_in_hours)
    content = await content_of(call, steps)
    return await call.create(Plan, plans.propose, content=content, reason=sent.reason, expires_at=expires_at)


@operation()
async def get_plan(call: ApiRequest) -> Plan:
    """Return a plan."""
    return await call.read(plans.get_plan, call.path_id("plan_id"), at=call.at)


@operation(*REFUSED, notice="plan-applied")
async def apply_plan(call: ApiRequest, sent: PlanApproval) -> Plan:
    """Approve a plan and apply it, whole or not at all, at once or at a time."""
    plan_id = call.path_id("plan_id")

    def perform(connection: Any, program_id: int, *, by: By) -> Plan:
        return apply(connection, call, plans.lock_pending(connection, program_id, plan_id, by=by))

    if sent.at is None:
        return await call.write(perform)
    await replace(call, storage=call.storage.dry_run).write(perform)  # what cannot be applied now is not approved
    return await call.write(plans.schedule, plan_id, apply_at=sent.at)


@operation(*REFUSED, notice="plan-declined")
async def decline_plan(call: ApiRequest) -> Plan:
    """Decline a plan, or withdraw it."""
    return await call.write(plans.decline, call.path_id("plan_id"))


@operation(*REFUSED, notice="plan-reverted")
async def revert_plan(call: ApiRequest) -> CreatedResponse[Plan]:
    """Take back what a plan changed by a plan of its own, which names in `final` what stays."""
    plan_id = call.path_id("plan_id")
    applied = await call.read(plans.get_plan, plan_id, at=call.at)
    steps = plan_diffs.reverse(applied.diff)
    if not steps:
        raise errors.ValidationError("Nothing that this plan changed can be taken back.")
    content = await content_of(call, steps)
    content["final"] = plan_diffs.final(applied.diff)
    if any("step" in each for each in content["conflicts"]) or not plan_diffs.continues(applied.diff, content["diff"]):
        raise errors.PreconditionFailed("What the plan changed has changed since.")

    def perform(connection: Any, program_id: int, *, by: By) -> Plan:
        plans.lock(connection, program_id, plan_id, PlanStatus.APPLIED, at=by.at)
        about: dict[str, Any] = {"reason": f"Reverts: {applied.reason}"[:512], "reverts_id": plan_id}
        made = plans.propose(connection, program_id, content, **about, expires_at=by.at + LASTS, by=by)
        return apply(connection, call, made) if _may_apply(connection, call) else made

    return await call.create(Plan, perform)


async def content_of(call: ApiRequest, steps: Sequence[PlanStep]) -> dict[str, Any]:
    """Return what a plan of these steps would change now, who may approve it, and what speaks against it."""
    for step in steps:
        step.action(call)
    diff, _, failed = await _try(call, steps, OPERATOR)
    conflicts = [_said(*each) for each in failed]
    touched = {plan_diffs.place(each) for each in diff}
    others = await call.read(plans.list_pending, at=call.at)
    same = [each.id for each in others if touched & set(map(plan_diffs.place, each.diff))]
    conflicts += [{"plan_id": each, "message": "An open plan changes the same."} for each in same]
    _, used, over = await _try(call, steps, call.actor, OPERATOR) if call.actor.is_agent else StepsResult([], [], [])
    content: dict[str, Any] = {"steps": [each._asdict() for each in steps], "diff": diff, "conflicts": conflicts}
    content |= {"caps": [_said(*each) for each in over if "cap" in each[1].details], "caps_used": used}
    content |= {"final": plan_diffs.final(diff), "approvers": approvers(steps), "backtest": None}
    if not failed and (changes := _changes_of_terms(steps)):
        priced = BacktestView.of(await backtests.run(call, changes, days=PRICED_DAYS))
        content["backtest"] = priced.model_dump(mode="json", exclude={"partners"})
    return content


def _changes_of_terms(steps: Sequence[PlanStep]) -> list[DraftChange]:
    """Return what steps change of terms, as a backtest prices it; nothing if they change none."""
    changes = []
    for step in steps:
        if found := _OF_TERMS.fullmatch(step.path):
            model: Any = step.resources(of_members=True)[0][0].operation.description.body
            settings = body.parse(model, to_json(step.body)).sent()
            changes.append(DraftChange(settings, row_id(found[1] or ""), found[2]))
    are_terms = any(name == "group" or BY_NAME[name].is_term for each in changes for name in each.settings)
    return changes if are_terms else []


def _may_apply(connection: Any, call: ApiRequest) -> bool:
    return call.role is not None or agent_caps.get_caps(connection, call.program_id).apply_own_plans


async def _try(call: ApiRequest, steps: Sequence[PlanStep], *actors: Actor) -> StepsResult:
    """Run steps and roll them back."""
    return await call.storage.dry_run.write_in(call.program_id, run, call, steps, *actors)


def apply(connection: Any, call: ApiRequest, plan: Plan) -> Plan:
    """Apply a locked plan, as who calls. Raises OverCap, or PreconditionFailed if that changes anything else."""
    if not _may_apply(connection, call):
        raise errors.OverCap("A member approves the plans of this program.", cap="apply_own_plans")
    steps = [PlanStep(**each) for each in plan.steps]
    diff, _, failed = run(connection, call, steps, call.actor)
    if failed and "cap" in failed[0][1].details:
        raise failed[0][1]
    if failed or plan_diffs.facts(diff) != plan_diffs.facts(plan.diff):
        raise errors.PreconditionFailed("What the plan names has changed since.", hint="Send a new plan.")
    return plans.decide(connection, call.program_id, plan, PlanStatus.APPLIED, content={"diff": diff}, by=call.by)


def _said(step: int, error: errors.ServiceError) -> dict[str, Any]:
    return {"step": step, "code": error.code, "message": error.text, **error.details}


PLAN_RESOURCES = (
    Resource("GET", "/plans", listing(PLANS), MEMBER, Scope.PROGRAMS_READ),
    Resource("POST", "/plans", create_plan, DECIDER, Scope.PROGRAMS_WRITE),
    Resource("GET", "/plans/{plan_id}", get_plan, MEMBER, Scope.PROGRAMS_READ),
    Resource("POST", "/plans/{plan_id}/apply", apply_plan, DECIDER, Scope.PROGRAMS_WRITE),
    Resource("POST", "/plans/{plan_id}/decline", decline_plan, DECIDER, Scope.PROGRAMS_WRITE),
    Resource("POST", "/plans/{plan_id}/revert", revert_plan, DECIDER, Scope.PROGRAMS_WRITE),
)
