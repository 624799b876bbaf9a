"""Plans that are applied at a time, by whichever process comes first, with the rights of the approver."""

import asyncio
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import background
import storage
from storage import Storage
from storage.access import agent_keys
from storage.access.workspaces import Role
from storage.engine.audit import USER, Actor
from storage.lists.audit_log import AUDIT_LOG
from storage.lists.plans import PLANS
from storage.management import agent_caps, plans
from tests import world
from tests.agent_api.conftest import Agents
from tests.agent_api.test_plans import RATE, act, allow, propose, renamed
from tests.test_dry_runs import DRY
from tests.world import NOW

OWNER = "olga@acme.example"
THEN = NOW + timedelta(days=7)


def at(time: datetime) -> dict[str, Any]:
    return {"json": {"at": time.isoformat()}}


async def rate(agents: Agents) -> Any:
    return (await agents.get(".")).json()["commission_rate"]


async def scheduled(agents: Agents, *changes: Any) -> int:
    """Have a plan approved by the agent's own key for THEN, and return its id."""
    await allow(agents)
    planned = await act(agents, await propose(agents, *changes or [RATE]), "apply", **at(THEN))
    assert (planned.status_code, planned.json()["status"]) == (200, "scheduled"), planned.text
    return int(planned.json()["id"])


async def due(agents: Agents, *more: Storage, time: datetime = THEN) -> Any:
    """Let workers apply what is due, all at once, and return the only plan."""
    agents.at = time
    stores = (agents.acme.store, *more)
    await asyncio.gather(*(background.apply_plans(store, agents.app, at=time) for store in stores))
    return (await agents.get("./plans")).json()["data"][0]


@pytest.mark.both_databases
async def test_a_plan_is_applied_once_at_its_time_by_any_of_two_workers_after_a_restart(
    agents: Agents, database_url: str
) -> None:
    await scheduled(agents)
    early = await due(agents, time=THEN - timedelta(milliseconds=1))

    async with storage.opened(database_url) as one, storage.opened(database_url) as other:
        done = await due(agents, one, other)
    again = await due(agents, time=THEN + timedelta(hours=1))

    assert (early["status"], early["apply_at"]) == ("scheduled", "2026-05-27T12:00:00Z")
    assert (done["status"], done["decided_by"], done["decided_at"]) == ("applied", "Reporter", "2026-05-27T12:00:00Z")
    assert again == done
    assert await rate(agents) == 25
    logged = [(each.action, each.actor_name) for each in (await agents.acme.listed(AUDIT_LOG)).data]
    for action in ("plan.schedule", "plan.apply", "program.change"):
        assert logged.count((action, "Reporter")) == 1, action


async def moved(agents: Agents) -> None:
    await agents.acme.change(commission_rate=22)


async def revoked(agents: Agents) -> None:
    keys = await agents.acme.store.read(agent_keys.list_all)
    await agents.acme.store.write(agent_keys.revoke, keys[0].id, at=NOW)
    agents.good = await agents.issue()


async def no_longer_allowed(agents: Agents) -> None:
    await agents.acme.do(agent_caps.change, {"apply_own_plans": False})


FAILURES = [(moved, 0, "precondition_failed"), (revoked, 0, "forbidden"), (no_longer_allowed, 0, "over_cap")]


@pytest.mark.parametrize(("change", "hours_late", "code"), [*FAILURES, (allow, 72, "plan_expired")])
async def test_a_plan_that_cannot_be_applied_at_its_time_says_why_and_changes_nothing(
    agents: Agents, change: Any, hours_late: int, code: str
) -> None:
    await scheduled(agents, renamed(agents), RATE)
    await change(agents)
    before = await rate(agents)

    failed = await due(agents, time=THEN + timedelta(hours=hours_late))

    assert (failed["status"], failed["failure"]["code"]) == ("failed", code)
    assert await rate(agents) == before
    assert {row["name"] for row in (await agents.get("./partners")).json()["data"]} == {"Anna", "Ben"}
    [*_, last] = (await agents.get("./changes", limit=200)).json()["summary"]["needs_action"]
    assert (last["kind"], last["number"]) == ("plan.fail", 1)
    assert (await due(agents, time=THEN + timedelta(days=9)))["status"] == "failed"


async def test_a_time_is_chosen_within_a_year_for_what_could_be_applied_now(agents: Agents) -> None:
    await allow(agents)
    made = await propose(agents, RATE)

    wrong = [await act(agents, made, "apply", **at(time)) for time in (NOW, NOW + timedelta(days=367))]
    wrong.append(await agents.call("POST", f"./plans/{made.json()['id']}/apply", json={"at": "2026-05-27T12:00:00"}))
    tried = await act(agents, made, "apply", **at(THEN), headers=DRY)
    await moved(agents)
    stale = await act(agents, made, "apply", **at(THEN))

    assert [(each.status_code, each.json()["error"]["fields"][0]["field"]) for each in wrong] == [(400, "at")] * 3
    assert (tried.json()["dry_run"], tried.json()["status"]) == (True, "scheduled")
    assert (stale.status_code, stale.json()["error"]["code"]) == (412, "precondition_failed")
    assert (await due(agents))["status"] == "open"


async def test_a_member_who_lost_their_role_approves_nothing_any_more(agents: Agents) -> None:
    plan, app = await propose(agents, RATE), agents.app
    user_id = await agents.acme.join(OWNER, Role.OWNER)
    by = Actor(USER, str(user_id), OWNER)
    await agents.acme.do(plans.schedule, plan.json()["id"], apply_at=THEN, actor=by)
    await world.suspend(agents.acme.store, agents.acme.workspace_id, OWNER)

    await background.apply_plans(agents.acme.store, app, at=THEN)

    assert (await due(agents))["failure"]["code"] == "forbidden"


ACTS = st.lists(st.tuples(st.sampled_from(["apply", "decline", "schedule", "due"]), st.integers(0, 100)), max_size=8)


@settings(max_examples=30)
@given(acts=ACTS)
async def test_whatever_is_decided_a_plan_is_applied_at_most_once_and_never_before_its_time(
    store: Storage, acts: list[tuple[str, int]]
) -> None:
    agents = Agents(await world.acme(store))
    agents.good = await agents.issue()
    await allow(agents)
    made = await propose(agents, RATE)
    applied = 0
    for verb, hours in acts:
        agents.at += timedelta(hours=hours)
        if verb == "due":
            await background.apply_plans(store, agents.app, at=agents.at)
        else:
            later = at(agents.at + timedelta(hours=24)) if verb == "schedule" else {}
            response = await act(agents, made, "apply" if later else verb, **later)
            assert response.status_code in {200, 409}
        [plan] = (await agents.acme.listed(PLANS)).data
        logged = [each.action for each in (await agents.acme.listed(AUDIT_LOG)).data]
        before, applied = applied, logged.count("plan.apply")
        assert applied == (plan.status == "applied") == (await rate(agents) == 25)
        assert applied == before or verb in {"apply", "due"}
        assert verb != "due" or applied == before or plan.apply_at <= agents.at < plan.expires_at
