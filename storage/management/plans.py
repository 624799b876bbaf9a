"""Plans: stored by whoever proposes them; applied, declined or reverted once, in the transaction of their actions."""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, insert, select, update

from storage.engine import audit, ids
from storage.engine.audit import Actor, Change
from storage.lists.declaration import ListQuery, ListScope
from storage.lists.find import find, get
from storage.lists.plans import PLANS, Plan, PlanStatus
from storage.rules.errors import PlanExpired
from storage.tables import plans

_VERBS = {PlanStatus.APPLIED: "plan.apply", PlanStatus.DECLINED: "plan.decline"}
_row = plans.c


def get_plan(connection: Connection, program_id: int, plan_id: int, *, at: datetime) -> Plan:
    """Return a plan. Raises NotFound."""
    return get(connection, PLANS, ListScope(program_id, at), plan_id)


def list_open(connection: Connection, program_id: int, *, at: datetime) -> list[Plan]:
    """Return the newest open plans that have not expired."""
    query = ListQuery(limit=200, filters={"status": PlanStatus.OPEN})
    return [each for each in find(connection, PLANS, ListScope(program_id, at), query).data if each.expires_at > at]


def propose(
    connection: Connection,
    program_id: int,
    content: Mapping[str, Any],
    *,
    reason: str,
    expires_at: datetime,
    actor: Actor,
    at: datetime,
    reverts_id: int | None = None,
) -> Plan:
    """Store an open plan and return it."""
    [plan_id] = ids.after(at, 1)
    said = {"status": PlanStatus.OPEN, "reason": reason, "created_by": actor.name, "content": json.dumps(content)}
    times = {"created_at": at, "expires_at": expires_at, "reverts_id": reverts_id}
    connection.execute(insert(plans).values(program_id=program_id, id=plan_id, **said, **times))
    audit.write(connection, program_id, [Change("plan.propose", plan_id, after=reason)], actor=actor, at=at)
    return get_plan(connection, program_id, plan_id, at=at)


def decline(connection: Connection, program_id: int, plan_id: int, *, actor: Actor, at: datetime) -> Plan:
    """Decline an open plan. Raises NotFound, PlanExpired."""
    locked = lock(connection, program_id, plan_id, at=at)
    return decide(connection, program_id, locked, PlanStatus.DECLINED, actor=actor, at=at)


def lock(
    connection: Connection, program_id: int, plan_id: int, status: PlanStatus = PlanStatus.OPEN, *, at: datetime
) -> Plan:
    """Return a plan for a decision on it. Raises NotFound, PlanExpired unless it has the status and is in time."""
    mine = (_row.program_id == program_id, _row.id == plan_id)
    connection.execute(select(_row.id).where(*mine).with_for_update())
    plan = get_plan(connection, program_id, plan_id, at=at)
    if plan.status != status or (status == PlanStatus.OPEN and plan.expires_at <= at):
        raise PlanExpired
    return plan


def decide(
    connection: Connection,
    program_id: int,
    plan: Plan,
    status: PlanStatus,
    *,
    actor: Actor,
    at: datetime,
    diff: list[dict[str, Any]] | None = None,
) -> Plan:
    """Store what becomes of a locked plan, with what it changed; a plan that reverts another marks that one."""
    content = json.loads(plan.content) | ({} if diff is None else {"diff": diff})
    values = {"status": status, "decided_by": actor.name, "decided_at": at, "content": json.dumps(content)}
    connection.execute(update(plans).where(_row.program_id == program_id, _row.id == plan.id).values(values))
    if plan.reverts_id and status == PlanStatus.APPLIED:
        reverted = (_row.program_id == program_id, _row.id == plan.reverts_id)
        connection.execute(update(plans).where(*reverted).values(status=PlanStatus.REVERTED))
    said = {"created_by": plan.created_by, "reason": plan.reason}
    change = Change(_VERBS[status], plan.id, after=said)
    audit.write(connection, program_id, [change], actor=actor, at=at)
    return get_plan(connection, program_id, plan.id, at=at)
