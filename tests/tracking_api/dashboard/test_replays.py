"""Rejected calls on their page, on the page of the key, and by an agent: lost by HTTP, and performed after all."""

from datetime import timedelta
from typing import Any

import httpx
import pytest

from storage.access.workspaces import Role
from storage.management import agent_caps
from storage.rules import keys
from storage.rules.scope import Scope
from tests.agent_api.conftest import Agents
from tests.tracking_api.dashboard.conftest import Dashboard
from tests.tracking_api.dashboard.reading import press
from tests.world import NOW

MIA = "mia@acme.example"
SALE = {"transaction_id": "inv-1", "customer_key": "user-1", "amount_cents": 10_000}


async def sell(dashboard: Dashboard, key: str, **fields: object) -> httpx.Response:
    headers = {"Authorization": f"Bearer {key}", "User-Agent": "acme-shop/1.2"}
    return await dashboard.client.post("/api/v1/track/sale", json={**SALE, **fields}, headers=headers)


async def sold(dashboard: Dashboard) -> list[str]:
    events = (await dashboard.get("./events", kind="sale")).json()["data"]
    return sorted(each["transaction_id"] for each in events)


async def test_a_manager_replays_a_cause_after_a_page_that_says_what_would_happen(dashboard: Dashboard):
    await dashboard.join(MIA, Role.MANAGER)
    mia, path = dashboard.browser(MIA), f"{dashboard.pages}/refused-calls/replay"
    await dashboard.acme.customer(at=NOW - timedelta(hours=1))
    for currency in ("XAF", "USD"):
        await sell(dashboard, dashboard.acme.key, transaction_id=f"inv-{currency}", currency=currency)

    asked = await press(mia, path, cause="currency_not_supported")
    none_yet = await sold(dashboard)
    done = await press(mia, path, cause="currency_not_supported", confirmed="yes")

    assert "Performed: 0" in asked.text
    assert "Still rejected: 1" in asked.text
    assert none_yet == ["inv-USD"]
    assert (done.status_code, "svc_notice" in done.cookies) == (303, True)


@pytest.mark.parametrize("decision", ["accept", "discard", "leaked"])
async def test_an_owner_decides_on_calls_with_the_old_key_on_the_page_of_the_key(dashboard: Dashboard, decision: str):
    acme, page = dashboard.acme, f"{dashboard.pages}/settings/api-keys"
    await acme.customer(at=NOW - timedelta(hours=1))
    old = (await dashboard.post("./regenerate-api-token")).json()["data"]["api_token"]
    await dashboard.post("./regenerate-api-token")
    lost = await sell(dashboard, old)
    shown = await dashboard.olga.get(page)

    asked = await press(dashboard.olga, page, action=decision, caller="acme-shop/1.2")
    await press(dashboard.olga, page, action=decision, confirmed="yes")
    rotation = (await dashboard.get("./key-rotation")).json()

    assert (lost.status_code, lost.json()["error"]["code"]) == (401, "invalid_key")
    assert "acme-shop/1.2" in shown.text
    assert "cannot undo" in asked.text
    assert (rotation["state"], rotation["waiting_calls"], rotation["was_leaked"]) == (
        "finished",
        0,
        decision == "leaked",
    )
    assert await sold(dashboard) == (["inv-1"] if decision == "accept" else [])


async def test_an_agent_replays_by_id_at_most_once_within_its_cap_and_tries_it_before(dashboard: Dashboard):
    acme = dashboard.acme
    await sell(dashboard, acme.key)
    await acme.customer(at=NOW - timedelta(hours=1))
    agents = Agents(acme)
    agents.good = await agents.issue((Scope.EVENTS_READ, Scope.EVENTS_REPLAY))
    async with agents.client:
        [lost] = (await agents.get("./explain", transaction_id="inv-1")).json()["refused_calls"]
        wanted: Any = {"json": {"ids": [lost["id"]]}}

        await acme.do(agent_caps.change, {"replayed_calls_in_a_day": 0})
        over = await agents.call("POST", "./refused-calls/replay", **wanted)
        await acme.do(agent_caps.change, {"replayed_calls_in_a_day": 1})
        dry = await agents.call("POST", "./refused-calls/replay", headers={"Svc-Dry-Run": "true"}, **wanted)
        done, again = [await agents.call("POST", "./refused-calls/replay", **wanted) for _ in range(2)]
        neither = await agents.call("POST", "./refused-calls/replay", json={})

    assert (over.status_code, over.json()["error"]["cap"]) == (403, "replayed_calls_in_a_day")
    assert dry.json() == {"dry_run": True, **done.json()}
    assert [each.json()["calls"][0]["outcome"] for each in (done, again)] == ["performed", "replayed_before"]
    assert neither.status_code == 400
    assert await sold(dashboard) == ["inv-1"]
    log = (await dashboard.get("./audit-log")).json()["data"]
    assert [each["action"] for each in log if each["actor"]["type"] == "agent_key"] == ["rejected_call.replay"]
    assert keys.digest(agents.good) not in str(log)
