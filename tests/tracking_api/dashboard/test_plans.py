"""The page of plans: an owner approves what an agent proposed, reverts it, and sends what an assistant prepared."""

from datetime import timedelta
from urllib.parse import urlencode

import httpx

import background
from presentation.plans import PREPARED
from storage.access.workspaces import Role
from storage.lists.audit_log import AUDIT_LOG
from tests import planned
from tests.mcp_server.conftest import Assistant
from tests.tracking_api.dashboard.conftest import MAX, OLGA, Dashboard
from tests.tracking_api.dashboard.reading import follow, send, words
from tests.world import SEALER, SECRET


async def name(dashboard: Dashboard) -> str:
    return str((await dashboard.get(".")).json()["name"])


async def test_an_owner_reads_a_plan_as_sentences_approves_it_and_reverts_it(
    olga: httpx.AsyncClient, dashboard: Dashboard
):
    plans = f"{dashboard.pages}/plans"
    await planned.plan(dashboard.acme)

    shown = words((await olga.get(plans)).text)
    applied = await follow(olga, await send(olga, plans, "Approve and apply"))
    renamed = await name(dashboard)
    reverted = await follow(olga, await send(olga, plans, "Revert"))

    assert "svc admin asks for 1 change" in shown
    assert "Because: A better name Change name of the program from Acme partners to After ." in shown
    assert "The plan is applied." in applied
    assert renamed == "After"
    assert "taken back" in reverted
    assert await name(dashboard) == "Acme partners"
    logged = [(each.action, each.actor_name) for each in (await dashboard.acme.listed(AUDIT_LOG)).data]
    assert ("program.change", OLGA) in logged
    assert ("plan.apply", OLGA) in logged


async def test_a_declined_plan_and_one_beyond_a_member_s_rights_cannot_be_applied(
    olga: httpx.AsyncClient, dashboard: Dashboard
):
    plan_id = await planned.plan(dashboard.acme)
    await dashboard.join("manager@acme.example", Role.MANAGER)

    manager = await dashboard.call("POST", f"./plans/{plan_id}/apply", "manager@acme.example")
    reader = await dashboard.call("POST", f"./plans/{plan_id}/apply", MAX)
    await send(olga, f"{dashboard.pages}/plans", "Decline")
    late = await dashboard.call("POST", f"./plans/{plan_id}/apply")

    assert [each.status_code for each in (manager, reader, late)] == [403, 403, 409]
    assert await name(dashboard) == "Acme partners"


async def test_an_owner_approves_a_plan_for_a_time_and_reads_what_became_of_it(
    olga: httpx.AsyncClient, dashboard: Dashboard
):
    plans, time = f"{dashboard.pages}/plans", dashboard.at + timedelta(days=2)
    await planned.plan(dashboard.acme)

    approved = await follow(olga, await send(olga, plans, "Approve for this time", at=f"{time:%Y-%m-%dT%H:%M}"))
    empty = await send(olga, plans, "Approve for this time", at="")
    await dashboard.acme.change(name="Another name")
    await background.apply_plans(dashboard.acme.store, dashboard.app, at=time)
    dashboard.at = time
    shown, overview = [words((await olga.get(path)).text) for path in (plans, dashboard.pages)]

    assert "Scheduled" in approved
    assert "It is applied May 22, 2026, 12:00 , unless what it names has changed by then" in approved
    assert empty.status_code == 400
    assert "Not applied at its time: What the plan names has changed since." in shown
    assert "1 plan They wait for approval, or could not be applied at their time." in overview
    assert await name(dashboard) == "Another name"


async def test_a_prepared_plan_is_its_member_s_and_stored_when_they_send_it(
    olga: httpx.AsyncClient, dashboard: Dashboard
):
    assistant, partner = Assistant(dashboard.acme, dashboard.acme), dashboard.acme.anna
    assistant.good = (await dashboard.acme.issue()).secret
    async with assistant.serving(secret_key=SECRET):
        asked = await assistant.tool("backtest_terms", changes="commission_rate=30", partner_id=partner, group="gold")
        of_group = await assistant.tool("backtest_terms", changes="commission_rate=25", group="gold")

    def link(member: str, hours: int = 72) -> str:
        steps = [["PATCH", "", {"commission_rate": 25}]]
        until = dashboard.at + timedelta(hours=hours)
        sealed = SEALER.seal_until(until, PREPARED, dashboard.acme.program_id, member, steps, "Partners leave")
        return f"{dashboard.pages}/plans?{urlencode({'draft': sealed})}"

    shown = await olga.get(link(OLGA))
    foreign, expired = await olga.get(link(MAX)), await olga.get(link(OLGA, hours=0))
    before = (await dashboard.get("./plans")).json()["data"]
    sent = await follow(olga, await send(olga, link(OLGA), "Send plan"))
    by_assistant, gold = [words((await olga.get(each.payload["plan_url"])).text) for each in (asked, of_group)]

    assert "Change commission rate of the program from 20 to 25 ." in words(shown.text)
    assert f"Set the terms of the partner {partner} to" in by_assistant
    assert f"Change group of the partner {partner}" in by_assistant
    assert "Set the terms of the group gold to Commission type: percent, Commission rate: 25 ." in gold
    assert (foreign.status_code, expired.status_code, before) == (404, 404, [])
    assert "The plan is sent." in sent
    [plan] = (await dashboard.get("./plans")).json()["data"]
    assert (plan["status"], plan["created_by"], plan["reason"]) == ("open", OLGA, "Partners leave")
