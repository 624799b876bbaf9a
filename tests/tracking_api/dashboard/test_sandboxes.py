"""The sandbox over HTTP: owners open and empty it, members see it beside the live program."""

import httpx

from tests import stripe_events as stripe
from tests.tracking_api.dashboard.conftest import MAX, Dashboard
from tests.tracking_api.dashboard.reading import follow, send, words
from tests.world import LANDING_PAGE


async def test_an_owner_opens_a_sandbox_and_is_shown_its_key_once(dashboard: Dashboard):
    response = await dashboard.post("./sandbox")
    again = (await dashboard.post("./sandbox")).json()["data"]

    data = response.json()["data"]
    assert response.status_code == 200
    assert response.headers["Cache-Control"] == "no-store"
    assert data["api_token"].startswith(f"aff_{data['program_id']}_")
    assert (again["program_id"], again["api_token"] != data["api_token"]) == (data["program_id"], True)
    program = (await dashboard.get(f"/api/programs/{data['program_id']}", MAX)).json()
    masked = again["api_token_masked"]
    assert (program["sandbox_of"], program["api_token_masked"]) == (dashboard.acme.program_id, masked)
    live, sandboxes = [(await dashboard.get("/api/programs", kind=kind)).json()["data"] for kind in ("live", "sandbox")]
    assert [each["id"] for each in live] == [dashboard.acme.program_id]
    assert [each["id"] for each in sandboxes] == [data["program_id"]]


async def test_its_checklist_and_the_status_of_its_key_say_that_it_is_a_sandbox(
    dashboard: Dashboard, olga: httpx.AsyncClient
):
    data = (await dashboard.post("./sandbox")).json()["data"]
    ids = (data["program_id"], dashboard.acme.program_id)

    of_keys = [
        (await dashboard.get("/api/v1/cli/status", key)).json()["data"]
        for key in (data["api_token"], dashboard.acme.key)
    ]
    pages = [(await olga.get(f"/programs/{program_id}/settings/checklist")).text for program_id in ids]

    assert (of_keys[0]["sandbox_of"], "sandbox_of" in of_keys[1]) == (dashboard.acme.program_id, False)
    assert ["This is the sandbox of" in page for page in pages] == [True, False]


async def test_it_is_emptied_and_is_not_found_where_there_is_none(dashboard: Dashboard):
    missing = await dashboard.call("DELETE", "./sandbox/events")
    sandbox = (await dashboard.post("./sandbox")).json()["data"]["program_id"]

    emptied = await dashboard.call("DELETE", "./sandbox/events")
    of_its_own = await dashboard.post(f"/api/programs/{sandbox}/sandbox")

    assert (missing.status_code, emptied.status_code, emptied.json()) == (404, 200, {"success": True})
    assert (of_its_own.status_code, of_its_own.json()["error"]["code"]) == (400, "validation_error")


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


async def test_an_owner_opens_and_empties_it_on_its_page(dashboard: Dashboard, olga: httpx.AsyncClient):
    path = f"{dashboard.pages}/settings/sandbox"

    opened = await send(olga, path, "Open a sandbox")
    sandbox_id = int(words(opened.text).partition("SERVICE_PROGRAM_ID=")[2].partition(" ")[0])
    click = {"program_id": sandbox_id, "affiliate_url": LANDING_PAGE.replace("anna", "sandbox")}
    clicked = await dashboard.call("POST", "/api/v1/track/click", None, json=click)
    unticked = await send(olga, path, "Delete events")
    emptied = await send(olga, path, "Delete events", confirmed="yes")

    assert (opened.status_code, f'href="/programs/{sandbox_id}"' in opened.text) == (200, True)
    assert (clicked.json()["success"], unticked.status_code) == (True, 400)
    assert "The sandbox has no events any more" in await follow(olga, emptied)
    menu = (await olga.get(f"/programs/{sandbox_id}")).text.partition('<p class="program">')[2].partition("</p>")[0]
    assert words(menu) == "acme.example Sandbox"
