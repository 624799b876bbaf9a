"""Rejected calls on their page and on the page of the key: lost by HTTP, and performed after all."""

from datetime import timedelta

import httpx
import pytest

from storage.access.workspaces import Role
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
    [lost] = (await dashboard.get("./refused-calls")).json()["data"]
    done = await press(mia, path, cause="currency_not_supported", confirmed="yes")

    assert (lost["code"], lost["status"], lost["hint"] is None) == ("currency_not_supported", 400, False)
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
    assert (rotation["state"], rotation["waiting_calls"]) == ("finished", 0)
    assert rotation["was_leaked"] == (decision == "leaked")
    assert await sold(dashboard) == (["inv-1"] if decision == "accept" else [])
