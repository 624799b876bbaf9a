"""Plans whose time has come: applied in the names of their approvers, with the rights that these have then."""

from datetime import datetime
from typing import Any

from starlette.requests import Request

from presentation import plans
from presentation.api_request import ApiRequest
from presentation.operations import ALWAYS
from storage import Storage
from storage.access import agent_keys, members
from storage.access.workspaces import PAYERS, MemberStatus
from storage.engine.audit import AGENT_KEY, USER, Actor
from storage.lists.plans import Plan, PlanStatus
from storage.lists.programs import read_program
from storage.management import plans as stored
from storage.rules.errors import Forbidden, ServiceError


async def apply_due(store: Storage, app: Any, program_id: int, plan_id: int, *, at: datetime) -> None:
    """Apply a plan whose time has come, whole or not at all, unless another process has; store why it could not be.

    `app` is one whose state has what actions need besides storage. Raises errors of storage: it stays due.
    """
    request = Request({"type": "http", "app": app, "method": "POST", "path": "/", "headers": [], "query_string": b""})

    def perform(connection: Any) -> None:
        plan = stored.lock(connection, program_id, plan_id, PlanStatus.SCHEDULED, at=at)
        if plan.apply_at and plan.apply_at <= at:
            approver = _rights(connection, program_id, plan, at)
            call = ApiRequest(request=request, storage=store, at=at, program_id=program_id, **approver)
            plans.apply(connection, call, plan)

    try:
        await store.write_in(program_id, perform)
    except ALWAYS:
        raise
    except ServiceError as error:
        await store.write_in(program_id, stored.fail, program_id, plan_id, error, at=at)


def _rights(connection: Any, program_id: int, plan: Plan, at: datetime) -> dict[str, Any]:
    """Return who approved a plan, with their role or scopes. Raises NotFound, Forbidden if they have none any more."""
    workspace_id, approver_id = read_program(connection, program_id).workspace_id, int(plan.approver_id or 0)
    if plan.approver_type == AGENT_KEY:
        keys = agent_keys.list_all(connection, workspace_id=workspace_id)
        for key in keys:
            if key.id == approver_id and key.is_live(at) and key.reaches(program_id):
                return {"actor": key.actor, "scopes": key.scopes}
    else:
        member = members.get_member(connection, workspace_id, approver_id)
        if member.status == MemberStatus.ACTIVE:
            actor = Actor(USER, str(approver_id), member.email, may_pay=member.role in PAYERS)
            return {"actor": actor, "role": member.role}
    raise Forbidden("Whoever approved it has lost their access since.")
