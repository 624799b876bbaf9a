"""Plans: an agent proposes, a member approves, and it is applied whole or not at all; the agent takes it back."""

from datetime import timedelta
from typing import Any

import httpx

from storage.lists.audit_log import AUDIT_LOG
from storage.management import agent_caps
from storage.rules.scope import Scope
from tests.agent_api.conftest import Agents
from tests.test_dry_runs import DRY
from tests.world import HELD_SINCE, NOW

RATE = {"method": "PATCH", "path": "", "body": {"commission_rate": 25}}
REASON = "Partners leave for better terms"


def renamed(agents: Agents, name: str = "Annie") -> dict[str, Any]:
    return {"action": "change_partner", "subject": agents.acme.anna, "input": {"name": name}}


async def propose(agents: Agents, *changes: Any, key: str = "good", **more: Any) -> httpx.Response:
    return await agents.call("POST", "./plans", key, json={"changes": changes, "reason": REASON, **more})


async def allow(agents: Agents) -> None:
    """Let agent keys apply their plans."""
    await agents.acme.do(agent_caps.change, {"apply_own_plans": True})


async def act(agents: Agents, plan: httpx.Response, verb: str, key: str = "good", **options: Any) -> httpx.Response:
    return await agents.call("POST", f"./plans/{plan.json()['id']}/{verb}", key, **options)


async def name_of_anna(agents: Agents) -> Any:
    return next(row["name"] for row in (await agents.get("./partners")).json()["data"] if row["code"] == "anna")


async def test_a_plan_says_what_it_changes_costs_and_needs_and_changes_nothing(agents: Agents):
    await agents.acme.customer()
    await agents.acme.sale(amount_cents=10_000)

    made = await propose(agents, RATE, renamed(agents))

    plan = made.json()
    assert (made.status_code, plan["status"], plan["created_by"], plan["reason"]) == (201, "open", "Reporter", REASON)
    assert [(each["action"], each["field"], each["before"], each["after"]) for each in plan["diff"]] == [
        ("program.change", "commission_rate", 20, 25),
        ("partner.change", "name", "Anna", "Annie"),
    ]
    assert plan["backtest"]["difference_cents"] == 500
    assert (plan["conflicts"], plan["caps"], plan["final"], plan["approvers"]) == ([], [], [], ["owner"])
    assert plan["expires_at"] == "2026-05-23T12:00:00Z"
    assert (await agents.get(".")).json()["commission_rate"] == 20
    assert (await agents.get(f"./plans/{plan['id']}")).json() == plan
    assert [each["id"] for each in (await agents.get("./plans", status="open")).json()["data"]] == [plan["id"]]


async def test_an_agent_applies_and_reverts_within_its_caps_only_if_an_owner_allows_it(agents: Agents):
    made = await propose(agents, RATE, renamed(agents))
    refused = await act(agents, made, "apply")
    await allow(agents)

    tried = await act(agents, made, "apply", headers=DRY)
    applied = await act(agents, made, "apply")
    again = await act(agents, made, "apply")
    changed = (await agents.get(".")).json()["commission_rate"], await name_of_anna(agents)
    reverted = await act(agents, made, "revert")
    twice = await act(agents, made, "revert")

    assert (refused.status_code, refused.json()["error"]["cap"]) == (403, "apply_own_plans")
    assert (tried.json()["dry_run"], tried.json()["status"]) == (True, "applied")
    assert (applied.json()["status"], changed) == ("applied", (25, "Annie"))
    assert (again.status_code, again.json()["error"]["code"]) == (409, "plan_expired")
    assert (reverted.status_code, reverted.json()["status"]) == (201, "applied")
    assert (reverted.json()["reverts_id"], reverted.json()["reason"]) == (made.json()["id"], f"Reverts: {REASON}")
    assert ((await agents.get(".")).json()["commission_rate"], await name_of_anna(agents)) == (20, "Anna")
    assert (await agents.get(f"./plans/{made.json()['id']}")).json()["status"] == "reverted"
    assert twice.status_code in {409, 412}
    logged = [each.action for each in (await agents.acme.listed(AUDIT_LOG)).data]
    assert (logged.count("plan.propose"), logged.count("plan.apply"), logged.count("program.change")) == (2, 2, 2)


async def test_a_plan_whose_subject_moved_is_412_and_changes_nothing(agents: Agents):
    await allow(agents)
    made = await propose(agents, renamed(agents), RATE)
    await agents.acme.change(commission_rate=22)

    moved = await act(agents, made, "apply")

    assert (moved.status_code, moved.json()["error"]["code"]) == (412, "precondition_failed")
    assert await name_of_anna(agents) == "Anna"
    applied = await act(agents, await propose(agents, RATE), "apply")
    await agents.acme.change(commission_rate=30)
    assert (await act(agents, applied, "revert")).status_code == 412


async def test_a_plan_expires_and_can_be_declined_once(agents: Agents):
    await allow(agents)
    late, unwanted = await propose(agents, RATE, expires_in_hours=1), await propose(agents, renamed(agents))

    declined = await act(agents, unwanted, "decline")
    again = await act(agents, unwanted, "apply")
    agents.at = NOW + timedelta(hours=1)
    expired = await act(agents, late, "apply")

    assert declined.json()["status"] == "declined"
    assert [each.json()["error"]["code"] for each in (again, expired)] == ["plan_expired"] * 2


async def test_an_agent_key_decides_only_on_the_plans_that_it_sent(agents: Agents):
    await allow(agents)
    other = await agents.issue([Scope.PROGRAMS_WRITE, Scope.PROGRAMS_READ])
    made, later = await propose(agents, RATE), {"json": {"at": "2026-05-21T12:00:00Z"}}

    refused = [await act(agents, made, "decline", other), await act(agents, made, "apply", other)]
    refused.append(await act(agents, made, "apply", other, **later))

    assert [each.status_code for each in refused] == [403] * 3
    assert {each.json()["error"]["code"] for each in refused} == {"forbidden"}
    assert (await act(agents, made, "decline")).json()["status"] == "declined"


async def test_a_plan_beyond_the_caps_says_so_and_an_agent_cannot_apply_it(agents: Agents):
    await allow(agents)

    gift = {"partner_id": agents.acme.ben, "amount_cents": 10**9, "reason": "A gift"}
    beyond = [{**RATE, "body": {"commission_rate": 90}}, {"method": "POST", "path": "/adjustments", "body": gift}]
    made = await propose(agents, renamed(agents), *beyond, {**RATE, "body": {"commission_rate": 89}})
    refused = await act(agents, made, "apply")

    over = [(each["step"], each["cap"]) for each in made.json()["caps"]]
    assert (over, made.json()["conflicts"]) == (
        [(2, "highest_rate"), (3, "amount_in_a_day_cents"), (4, "highest_rate")],
        [],
    )
    assert [(each["cap"], each["uses"], each["remains"]) for each in made.json()["caps_used"][:1]] == [
        ("highest_rate", 90, 0)
    ]
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "over_cap")
    assert await name_of_anna(agents) == "Anna"


async def test_a_plan_says_what_it_uses_of_each_cap_and_what_remains(agents: Agents):
    await agents.acme.do(agent_caps.change, {"amount_in_a_day_cents": 2_000})
    gift = {"partner_id": agents.acme.ben, "amount_cents": 300, "reason": "A gift"}
    await agents.call("POST", "./adjustments", json=gift)

    made = await propose(agents, RATE, *[{"method": "POST", "path": "/adjustments", "body": gift}] * 2)

    assert [tuple(each.values()) for each in made.json()["caps_used"]] == [
        ("highest_rate", "rate", 25, 25, 50),
        ("rate_step", "percent", 5, 15, 20),
        ("rate_change_in_30_days", "percent", 5, 15, 20),
        ("commissions_in_a_day", "credited", 2, 97, 100),
        ("amount_in_a_day_cents", "credited", 600, 1_100, 2_000),
    ]
    assert list(made.json()["caps_used"][0]) == ["cap", "of", "uses", "remains", "limit"]


async def test_each_step_needs_its_own_scope_and_must_be_an_action(agents: Agents):
    key = await agents.issue([Scope.PROGRAMS_WRITE, Scope.PROGRAMS_READ])

    missing = await propose(agents, RATE, renamed(agents), key=key)
    unknown = [
        await propose(agents, change)
        for change in ({"method": "POST", "path": "/plans", "body": {}}, {"action": "delete_program"}, {})
    ]
    no_reason = await agents.call("POST", "./plans", json={"changes": [RATE]})

    assert (missing.status_code, missing.json()["error"]["required_scope"]) == (403, "partners:write")
    assert [each.status_code for each in (*unknown, no_reason)] == [400] * 4


async def test_conflicts_name_the_step_that_fails_and_open_plans_that_change_the_same(agents: Agents):
    first = await propose(agents, RATE)

    second = await propose(agents, {**RATE, "body": {"commission_rate": 30}})
    failing = await propose(agents, renamed(agents), {"action": "changePartner", "subject": 7, "input": {"name": "No"}})

    assert [each["plan_id"] for each in second.json()["conflicts"]] == [first.json()["id"]]
    assert [(each["step"], each["code"]) for each in failing.json()["conflicts"]] == [(2, "not_found")]


async def test_a_revert_takes_back_what_it_can_and_names_what_is_final(agents: Agents):
    await allow(agents)
    await agents.acme.customer(at=HELD_SINCE)
    sold = await agents.acme.sale(at=HELD_SINCE)
    path = f"/api/agent/v1/programs/{agents.acme.program_id}"
    gift = {"partner_id": agents.acme.ben, "amount_cents": 500, "reason": "A gift"}
    changes = [
        {"method": "PATCH", "path": f"{path}/commissions/{sold.commission_id}", "body": {"status": "approved"}},
        {"method": "POST", "path": "/partners", "body": {"name": "Cleo", "code": "cleo"}},
        {"method": "POST", "path": "/adjustments", "body": gift},
    ]

    made = await propose(agents, *changes)
    applied = await act(agents, made, "apply")
    reverted = await act(agents, made, "revert")

    assert made.json()["final"] == reverted.json()["final"] == ["commission.decide"]
    assert (applied.status_code, reverted.status_code) == (200, 201)
    listed = {row["code"]: row["status"] for row in (await agents.get("./partners")).json()["data"]}
    assert listed == {"anna": "active", "ben": "active", "cleo": "inactive"}
    balances = {row["code"]: row["balance"] for row in (await agents.get("./partners")).json()["data"]}
    assert (balances["ben"]["approved_cents"], balances["anna"]["approved_cents"]) == (0, 2_000)


async def test_a_revert_gives_partners_and_groups_the_terms_that_they_had(agents: Agents):
    await allow(agents)
    anna = f"/partners/{agents.acme.anna}/terms"
    await agents.acme.customer()
    await agents.acme.sale(amount_cents=10_000)
    await agents.call("PUT", f".{anna}", json={"commission_rate": 22})
    own = {"method": "PUT", "path": anna, "body": {"commission_rate": 30, "group": "gold vip"}}
    gold = {"method": "PUT", "path": "/partner-groups/gold%20vip/terms", "body": {"commission_rate": 28}}
    coupon = {"action": "create_coupon", "input": {"partner_id": agents.acme.ben, "code": "BEN10"}}

    joins = {**own, "body": {"commission_rate": None, "group": "gold vip"}}
    made, priced = await propose(agents, own, gold, coupon), await propose(agents, own)
    joining, named = await propose(agents, gold, joins), await propose(agents, renamed(agents))
    applied = await act(agents, made, "apply")
    given = (await agents.get("./partners", q="anna")).json()["data"][0]
    reverted = await act(agents, made, "revert")
    again = await act(agents, await propose(agents, own), "apply")
    await agents.call("PUT", f".{anna}", json={"commission_rate": 31})
    moved = await act(agents, again, "revert")

    differences = [each.json()["backtest"]["difference_cents"] for each in (made, priced, joining, reverted)]
    assert (differences, named.json()["backtest"]) == ([1_000, 1_000, 800, 200], None)
    assert {each["action"] for each in reverted.json()["diff"]} > {"coupon.end"}
    back = {each["action"]: each["after"] for each in reverted.json()["diff"] if each["field"] != "group"}
    assert (made.json()["final"], applied.status_code, reverted.json()["status"]) == ([], 200, "applied")
    assert (given["group"], given["terms"]["commission_rate"]) == ("gold vip", 30)
    assert (back["partner.terms"]["commission_rate"], back["partner.group_terms"]) == (22, None)
    assert moved.status_code == 412
