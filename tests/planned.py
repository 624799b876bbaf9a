"""Plans that are stored as agents have proposed them."""

from datetime import timedelta
from typing import Any

from storage.engine.audit import AGENT_KEY, OPERATOR, Actor
from storage.lists.plans import PlanStatus
from storage.lists.programs import read_program
from storage.management import plans
from tests.world import NOW, World


async def plan(acme: World, *, applied: bool = False, gift: bool = False, key_id: int | None = None) -> int:
    """Store a plan that renames the program, or has renamed it, or that adds to a balance, and return its id.

    The operator has sent it, or an agent key, which alone of all keys may decide on it.
    """
    name = await acme.store.read(lambda reader: read_program(reader, acme.program_id).settings.name)
    before, after = ("Before", name) if applied else (name, "After")
    change = {"action": "program.change", "subject_id": acme.program_id, "field": "name"}
    steps = [{"method": "PATCH", "path": "", "body": {"name": after}}]
    content: Any = {"steps": steps, "diff": [{**change, "before": before, "after": after}]}
    if gift:
        body = {"partner_id": acme.anna, "amount_cents": 100, "reason": "A gift"}
        added = {"action": "partner.adjust", "subject_id": acme.anna, "field": None, "before": None, "after": body}
        content = {"steps": [{"method": "POST", "path": "/adjustments", "body": body}], "diff": [added]}
    sender = Actor(AGENT_KEY, str(key_id), "Reporter") if key_id else OPERATOR
    about: dict[str, Any] = {"reason": "A better name", "expires_at": NOW + timedelta(hours=72)}
    plan = await acme.do(plans.propose, content | {"approvers": ["owner"]}, actor=sender, **about)
    if applied:
        await acme.do(plans.decide, plan, PlanStatus.APPLIED)
    return int(plan.id)
