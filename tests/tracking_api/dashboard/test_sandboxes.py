"""The sandbox over HTTP: owners open and empty it, members see it beside the live program."""

import httpx
import pytest

from tests import stripe_events as stripe
from tests.tracking_api.dashboard.conftest import MAX, Dashboard
from tests.tracking_api.dashboard.test_pages import browser  # noqa: F401

pytestmark = pytest.mark.anyio


async def test_an_owner_opens_a_sandbox_and_is_shown_its_key_once(dashboard: Dashboard):
    response = await dashboard.post("./sandbox")

    data = response.json()["data"]
    assert response.status_code == 200
    assert response.headers["Cache-Control"] == "no-store"
    assert data["api_token"].startswith(f"aff_{data['program_id']}_")
    program = (await dashboard.get(f"/api/programs/{data['program_id']}", MAX)).json()
    assert (program["sandbox_of"], program["api_token_masked"]) == (dashboard.acme.program_id, data["api_token_masked"])


async def test_its_checklist_and_the_status_of_its_key_say_that_it_is_a_sandbox(
    dashboard: Dashboard,
    browser: httpx.AsyncClient,  # noqa: F811
):
    data = (await dashboard.post("./sandbox")).json()["data"]
    live_id = dashboard.acme.program_id

    of_keys = [
        (await dashboard.client.get("/api/v1/cli/status", headers={"Authorization": f"Bearer {key}"})).json()["data"]
        for key in (data["api_token"], dashboard.acme.key)
    ]
    pages = [
        (await browser.get(f"/programs/{program_id}/settings/checklist")).text
        for program_id in (data["program_id"], live_id)
    ]

    assert (of_keys[0]["sandbox_of"], "sandbox_of" in of_keys[1]) == (live_id, False)
    assert ["This is the sandbox of" in page for page in pages] == [True, False]


async def test_opening_it_again_returns_the_same_program_with_a_new_key(dashboard: Dashboard):
    first, again = [(await dashboard.post("./sandbox")).json()["data"] for _ in range(2)]

    assert first["program_id"] == again["program_id"]
    assert first["api_token"] != again["api_token"]


async def test_a_member_may_neither_open_nor_empty_it(dashboard: Dashboard):
    rejected = [
        await dashboard.post("./sandbox", MAX),
        await dashboard.call("DELETE", "./sandbox/events", MAX),
    ]

    assert [(each.status_code, each.json()["error"]["code"]) for each in rejected] == [(403, "owner_required")] * 2


async def test_emptying_says_so_and_is_not_found_without_a_sandbox(dashboard: Dashboard):
    missing = await dashboard.call("DELETE", "./sandbox/events")
    await dashboard.post("./sandbox")

    emptied = await dashboard.call("DELETE", "./sandbox/events")

    assert (missing.status_code, emptied.status_code, emptied.json()) == (404, 200, {"success": True})


async def test_a_sandbox_has_no_sandbox(dashboard: Dashboard):
    sandbox = (await dashboard.post("./sandbox")).json()["data"]["program_id"]

    rejected = await dashboard.post(f"/api/programs/{sandbox}/sandbox")

    assert (rejected.status_code, rejected.json()["error"]["code"]) == (400, "validation_error")


async def test_an_owner_plays_processor_events_in_the_sandbox_and_nowhere_else(dashboard: Dashboard):
    event = stripe.checkout(at=dashboard.at)

    without = await dashboard.post("./sandbox/payment-events", **event)
    sandbox_id = (await dashboard.post("./sandbox")).json()["data"]["program_id"]
    by_member = await dashboard.post("./sandbox/payment-events", MAX, **event)
    by_live = await dashboard.post("./sandbox/payment-events", **event)
    by_itself = await dashboard.post(f"/api/programs/{sandbox_id}/sandbox/payment-events", **event)
    broken = await dashboard.post("./sandbox/payment-events", type="invoice.paid")
    live = (await dashboard.get("./payment-events")).json()["data"]

    assert [each.status_code for each in (without, by_member, broken)] == [404, 403, 400]
    assert (by_live.json()["outcome"], by_itself.json()["outcome"], live) == ("waiting", "repeated", [])
