"""Plans: stored by whoever proposes them; applied, declined or reverted once, in the transaction of their actions."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, insert, or_, select, update

from storage.engine import ids
from storage.engine.audit import Actor, By, Change
from storage.lists.declaration import ListQuery, ListScope
from storage.lists.find import find, get
from storage.lists.plans import PLANS, Plan, PlanStatus
from storage.management import one_row
from storage.rules.errors import Forbidden, PlanExpired, ServiceError, ValidationError
from storage.tables import plans

LASTS = timedelta(hours=72)  # a plan that waits for approval, and one that could not be applied at its time
FURTHEST = timedelta(days=366)  # ahead of a plan's approval
SHOWN = timedelta(days=7)  # on the overview, after it failed
DUE_AT_ONCE = 200
PENDING = (PlanStatus.OPEN, PlanStatus.SCHEDULED)
_VERBS = {
    PlanStatus.SCHEDULED: "plan.schedule",
    PlanStatus.APPLIED: "plan.apply",
    PlanStatus.DECLINED: "plan.decline",
    PlanStatus.FAILED: "plan.fail",
}
_row = plans.c


def get_plan(connection: Connection, program_id: int, plan_id: int, *, at: datetime) -> Plan:
    """Return a plan. Raises NotFound."""
    return get(connection, PLANS, ListScope(program_id, at), plan_id)


def list_pending(connection: Connection, program_id: int, *, at: datetime) -> list[Plan]:
    """Return the newest plans that wait for approval or for their time, and have not expired."""
    queries = [ListQuery(limit=200, filters={"status": status}) for status in PENDING]
    found = [each for query in queries for each in find(connection, PLANS, ListScope(program_id, at), query).data]
    return [each for each in found if each.expires_at > at]


def list_due(connection: Connection, *, at: datetime) -> Sequence[Any]:
    """Return the program and the id of scheduled plans of any program whose time has come, the earliest first."""
    due = select(_row.program_id, _row.id).where(_row.status == PlanStatus.SCHEDULED, _row.apply_at <= at)
    return connection.execute(due.order_by(_row.apply_at).limit(DUE_AT_ONCE)).all()


def needs_action(at: datetime) -> ColumnElement[bool]:
    """Return the condition of plans that a person has to look at: they wait for approval, or failed in these days."""
    waits = and_(_row.status == PlanStatus.OPEN, _row.expires_at > at)
    return or_(waits, and_(_row.status == PlanStatus.FAILED, _row.decided_at > at - SHOWN))


def propose(
    connection: Connection,
    program_id: int,
    content: Mapping[str, Any],
    *,
    reason: str,
    expires_at: datetime,
    reverts_id: int | None = None,
    by: By,
) -> Plan:
    """Store an open plan and return it."""
    [plan_id] = ids.after(by.at, 1)
    whole = json.dumps({**content, "created_by_id": by.actor.key})
    said = {"status": PlanStatus.OPEN, "reason": reason, "created_by": by.actor.name, "content": whole}
    times = {"created_at": by.at, "expires_at": expires_at, "reverts_id": reverts_id}
    connection.execute(insert(plans).values(program_id=program_id, id=plan_id, **said, **times))
    change = Change("plan.propose", plan_id, after=reason)
    return one_row.change(connection, PLANS, program_id, plan_id, change, by=by)


def decline(connection: Connection, program_id: int, plan_id: int, *, by: By) -> Plan:
    """Decline a plan that waits. Raises NotFound, PlanExpired, Forbidden."""
    locked = lock_pending(connection, program_id, plan_id, by=by)
    return decide(connection, program_id, locked, PlanStatus.DECLINED, by=by)


def schedule(connection: Connection, program_id: int, plan_id: int, *, apply_at: datetime, by: By) -> Plan:
    """Store that a plan is applied at a time in the name of who approves it now. From then on it lasts 72 hours.

    Raises NotFound, PlanExpired, Forbidden, ValidationError.
    """
    if not by.at < apply_at <= by.at + FURTHEST:
        raise ValidationError.of("at", "Choose a time within the next 366 days")
    locked = lock_pending(connection, program_id, plan_id, by=by)
    values: dict[str, Any] = {"apply_at": apply_at, "expires_at": apply_at + LASTS}
    values |= {"approver_type": by.actor.type, "approver_id": by.actor.id}
    return decide(connection, program_id, locked, PlanStatus.SCHEDULED, by=by, **values)


def fail(connection: Connection, program_id: int, plan_id: int, error: ServiceError, *, at: datetime) -> None:
    """Store why a scheduled plan was not applied at its time, unless another process has decided it meanwhile."""
    plan = one_row.lock(connection, PLANS, program_id, plan_id, at=at)
    if plan.status == PlanStatus.SCHEDULED and plan.apply_at and plan.apply_at <= at:
        failure = {"code": error.code, "message": error.text}
        actor = Actor(plan.approver_type or "", plan.approver_id or "", plan.decided_by or "")
        decide(connection, program_id, plan, PlanStatus.FAILED, content={"failure": failure}, by=By(actor, at))


def lock_pending(connection: Connection, program_id: int, plan_id: int, *, by: By) -> Plan:
    """Return a plan that waits, for a decision. Raises as `lock`, Forbidden for an agent key that did not send it."""
    plan = lock(connection, program_id, plan_id, *PENDING, at=by.at)
    if by.actor.is_agent and plan.created_by_id != by.actor.key:
        raise Forbidden("An agent key decides only on the plans that it sent.", hint="Let a member decide on it.")
    return plan


def lock(connection: Connection, program_id: int, plan_id: int, *statuses: PlanStatus, at: datetime) -> Plan:
    """Return a plan for a decision on it. Raises NotFound, PlanExpired unless it has such a status and is in time."""
    plan = one_row.lock(connection, PLANS, program_id, plan_id, at=at)
    if plan.status not in statuses or (plan.status in PENDING and plan.expires_at <= at):
        raise PlanExpired
    return plan


def decide(
    connection: Connection,
    program_id: int,
    plan: Plan,
    status: PlanStatus,
    *,
    content: Mapping[str, Any] | None = None,
    by: By,
    **values: Any,
) -> Plan:
    """Store what becomes of a locked plan, with what changes in its content; one that reverts another marks that."""
    changed = dict(content or {})
    whole = json.dumps(json.loads(plan.content) | changed)
    values |= {"status": status, "decided_by": by.actor.name, "decided_at": by.at, "content": whole}
    if plan.reverts_id and status == PlanStatus.APPLIED:
        reverted = one_row.of(plans, program_id, plan.reverts_id)
        connection.execute(update(plans).where(reverted).values(status=PlanStatus.REVERTED))
    said = {"created_by": plan.created_by, "reason": plan.reason, **changed.get("failure", {})}
    said |= {"apply_at": values["apply_at"].isoformat()} if "apply_at" in values else {}
    change = Change(_VERBS[status], plan.id, after=said)
    return one_row.change(connection, PLANS, program_id, plan.id, change, by=by, **values)
