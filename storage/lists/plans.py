"""The list of plans: sets of actions with a reason, which are approved and applied together, or not at all."""

import json
from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, NamedTuple

from sqlalchemy import Connection

from storage.lists.declaration import Column, Filter, List, ListScope
from storage.rules.untrusted import Untrusted
from storage.tables import plans

Objects = Sequence[dict[str, Any]]


class PlanStatus(StrEnum):
    """What became of a plan."""

    OPEN = "open"
    SCHEDULED = "scheduled"
    APPLIED = "applied"
    DECLINED = "declined"
    REVERTED = "reverted"
    FAILED = "failed"


class Plan(NamedTuple):
    """A plan, with what it changes, costs and needs, and what became of it."""

    id: int
    created_at: Annotated[datetime, Column("When")]
    status: Annotated[PlanStatus, Column("Status", sorts=True)]
    reason: Annotated[Untrusted, Column("Reason", sorts=True)]
    created_by: Annotated[Untrusted, Column("By", sorts=True)]
    expires_at: Annotated[datetime, Column("Expires", sorts=True)]
    decided_by: Annotated[Untrusted | None, Column("Decided by")]
    decided_at: datetime | None
    reverts_id: int | None
    apply_at: datetime | None  # of one that is scheduled
    approver_type: Annotated[str | None, Column(is_internal=True)]
    approver_id: Annotated[str | None, Column(is_internal=True)]
    content: Annotated[str, Column(is_internal=True)]
    created_by_id: Annotated[str, Column(is_internal=True)] = ""
    steps: Objects = ()  # actions of the API
    diff: Objects = ()  # what they change: `action`, `subject_id`, `field`, and the values
    conflicts: Objects = ()  # steps that fail as things are, and open plans that change the same
    caps: Objects = ()  # what exceeds those of agent keys
    caps_used: Objects = ()  # what `uses` them, what `remains` of the `limit` then, and `of` what
    final: Sequence[str] = ()  # actions that a revert cannot take back
    approvers: Sequence[str] = ()  # the roles that may approve
    backtest: dict[str, Any] | None = None
    failure: dict[str, Any] | None = None  # why it was not applied at its time


def _with_content(_: Connection, __: ListScope, rows: list[Plan]) -> list[Plan]:
    return [row._replace(**json.loads(row.content)) for row in rows]


PLANS = List(
    "plans",
    Plan,
    plans,
    at=plans.c.created_at,
    filters=(Filter("status", PlanStatus, f"One of {', '.join(PlanStatus)}.", plans.c.status.__eq__, "Status"),),
    finish=_with_content,
)
