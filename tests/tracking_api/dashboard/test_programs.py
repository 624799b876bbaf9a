"""Programs, their keys and their sandboxes: members read, owners change."""

import logging
from typing import Any

import pytest

from storage.access import workspaces
from storage.rules import keys
from tests import stripe_events as stripe
from tests import world
from tests.tracking_api.dashboard.conftest import CONTRACT, HASH, MAX, OLGA, Dashboard

FIELDS: dict[str, Any] = CONTRACT["program"]
SHOP: dict[str, Any] = {"name": "Shop", "domain": "https://Shop.example/pricing"}


@pytest.fixture
async def globex(dashboard: Dashboard) -> int:
    """Another workspace, whose owner is Gina; return its id."""
    made = await world.globex(dashboard.acme.store)
    dashboard.tokens["gina"] = await made.sign_in()
    return made.workspace_id


async def test_a_program_shows_exactly_the_fields_of_the_contract(dashboard: Dashboard):
    program = (await dashboard.get(".", MAX)).json()

    masked = f"aff_••••{dashboard.acme.key[-4:]}"
    assert program == {"id": dashboard.acme.program_id, "api_token_masked": masked, **FIELDS}
    assert (await dashboard.get("/api/programs", MAX)).json() == {"data": [program], "next_cursor": None}


async def test_a_program_is_created_by_an_owner_in_a_workspace_of_theirs(dashboard: Dashboard, globex: int):
    created = await dashboard.post("/api/programs", **SHOP)
    elsewhere = await dashboard.post("/api/programs", **SHOP, workspace_id=globex)
    by_member = await dashboard.post("/api/programs", MAX, **SHOP)
    about: dict[str, Any] = {"email": OLGA, "role": workspaces.Role.OWNER, "password_hash": HASH, "at": world.NOW}
    await dashboard.acme.store.write(workspaces.add_member, globex, **about)
    unnamed = await dashboard.post("/api/programs", **SHOP)
    named = await dashboard.post("/api/programs", **SHOP, workspace_id=globex)

    assert (created.status_code, created.json()["domain"]) == (201, "shop.example")
    assert (await dashboard.get(f"/api/programs/{created.json()['id']}")).json() == created.json()
    assert "api_token" not in created.json()
    assert elsewhere.json()["error"]["code"] == "forbidden"
    assert by_member.json()["error"]["code"] == "owner_required"
    assert unnamed.json()["error"]["fields"][0]["field"] == "workspace_id"
    assert (await dashboard.get("/api/programs", "gina")).json()["data"][0] == named.json()


async def test_a_regenerated_key_is_shown_once_and_the_old_one_fails(
    dashboard: Dashboard, caplog: pytest.LogCaptureFixture
):
    caplog.set_level(logging.DEBUG)
    answer = await dashboard.post("./regenerate-api-token")
    secret = answer.json()["data"]["api_token"]

    reads = [await dashboard.get(path) for path in (".", "/api/programs", "./events", "./refused-calls", "./audit-log")]
    rejected = await dashboard.get(".", secret)
    said = "".join(each.text for each in (*reads, rejected)) + caplog.text
    assert set(answer.json()["data"]) == {"api_token", "api_token_masked"}
    assert secret.startswith("aff_")
    assert answer.headers["Cache-Control"] == "no-store"
    assert secret not in said
    assert keys.digest(secret) not in said
    assert secret[4:-4] not in said
    assert "program_key.regenerate" in said
    assert [(await dashboard.get("/api/v1/cli/status", key)).status_code for key in (dashboard.acme.key, secret)] == [
        401,
        200,
    ]


async def test_the_page_offers_to_delete_a_program_before_its_first_event_and_not_after(dashboard: Dashboard):
    offered = [(await dashboard.olga.get(f"{dashboard.pages}/settings")).text]
    await dashboard.acme.visitor()
    offered.append((await dashboard.olga.get(f"{dashboard.pages}/settings")).text)

    assert ["Delete program" in page for page in offered] == [True, False]


async def test_an_owner_opens_a_sandbox_whose_key_is_shown_once_plays_events_in_it_alone_and_empties_it(
    dashboard: Dashboard,
):
    event = stripe.checkout(at=dashboard.at)
    missing = await dashboard.call("DELETE", "./sandbox/events")
    response = await dashboard.post("./sandbox")
    again = (await dashboard.post("./sandbox")).json()["data"]

    data, live = response.json()["data"], dashboard.acme.program_id
    assert (missing.status_code, response.headers["Cache-Control"]) == (404, "no-store")
    assert (again["program_id"], again["api_token"] != data["api_token"]) == (data["program_id"], True)
    lists = [(await dashboard.get("/api/programs", kind=kind)).json()["data"] for kind in ("live", "sandbox")]
    assert [[each["id"] for each in listed] for listed in lists] == [[live], [data["program_id"]]]
    of_its_own = await dashboard.post(f"/api/programs/{data['program_id']}/sandbox")
    assert (of_its_own.status_code, of_its_own.json()["error"]["code"]) == (400, "validation_error")
    by_live, broken = [
        await dashboard.post("./sandbox/payment-events", **body) for body in (event, {"type": "invoice.paid"})
    ]
    by_itself = await dashboard.post(f"/api/programs/{data['program_id']}/sandbox/payment-events", **event)
    assert broken.status_code == 400
    assert (by_live.json()["outcome"], by_itself.json()["outcome"]) == ("waiting", "repeated")
    assert (await dashboard.get("./payment-events")).json()["data"] == []
    assert (await dashboard.call("DELETE", "./sandbox/events")).json() == {"success": True}
