"""Programs and their keys: members read, owners change."""

import logging
from typing import Any

import pytest

from storage.access import sessions, workspaces
from storage.access.workspaces import Role
from storage.rules import keys
from tests.tracking_api.dashboard.conftest import HASH, MAX, OLGA, Dashboard
from tests.world import NOW

pytestmark = pytest.mark.anyio
FIELDS = {
    "name": "Acme partners",
    "domain": "acme.example",
    "currency": "USD",
    "commission_type": "percent",
    "commission_rate": 20,
    "lead_commission_cents": 0,
    "minimum_order_cents": 0,
    "recurring_months": None,
    "attribution_model": "last_click",
    "cookie_window_days": 60,
    "attribution_window_days": 60,
    "hold_days": 15,
    "lead_auth_policy": "server_required",
    "paid_ads": "allowed",
    "further_domains": None,
    "old_links": "none",
    "platform_fee_rate": 0,
    "status": "active",
    "rotate_by": None,
    "sandbox_of": None,
    "created_at": "2026-05-20T12:00:00Z",
}
LISTS = ("partners", "customers", "commissions", "events", "refused-calls", "audit-log")


@pytest.fixture
async def globex(dashboard: Dashboard) -> int:
    """Another workspace, whose owner is Gina; return its id."""
    created = await dashboard.acme.store.write(
        workspaces.create, "Globex", owner_email="gina@globex.example", password_hash=HASH, at=NOW
    )
    started = await dashboard.acme.store.write(sessions.start, created.user_id, at=NOW)
    dashboard.tokens["gina"] = started.token
    workspace_id: int = created.workspace_id
    return workspace_id


async def test_a_program_shows_exactly_the_fields_of_the_contract(dashboard: Dashboard):
    program = (await dashboard.get(".", MAX)).json()

    masked = f"aff_••••{dashboard.acme.key[-4:]}"
    assert program == {"id": dashboard.acme.program_id, "api_token_masked": masked, **FIELDS}
    assert (await dashboard.get("/api/programs", MAX)).json() == {"data": [program], "next_cursor": None}


async def test_no_session_no_membership_and_no_such_program_get_the_same_error(dashboard: Dashboard, globex: int):
    rejected = [
        await dashboard.get(".", None),
        await dashboard.get(".", "nonsense"),
        await dashboard.get(".", dashboard.acme.key),
        await dashboard.get(".", "gina"),
        *[
            await dashboard.get(f"/api/programs/{odd}")
            for odd in ("99", "0", "-1", "1.0", "banana", "2147483648", "9" * 40, "%00", "\u0661")
        ],
    ]

    assert {answer.status_code for answer in rejected} == {403}
    errors = [answer.json()["error"] for answer in rejected]
    assert all(error == errors[0] for error in errors)
    assert errors[0]["code"] == "forbidden"
    assert globex


@pytest.mark.parametrize("name", LISTS)
async def test_every_list_is_for_members(dashboard: Dashboard, globex: int, name: str):
    assert (await dashboard.get(f"./{name}", MAX)).status_code == 200
    assert (await dashboard.get(f"./{name}", "gina", limit="0")).json()["error"]["code"] == "forbidden"
    assert (await dashboard.get(f"./{name}", limit="0")).json()["error"]["fields"][0]["field"] == "limit"
    assert (await dashboard.get(f"./{name}", cursor="nonsense")).json()["error"]["fields"][0]["field"] == "cursor"
    assert globex


async def test_an_owner_creates_a_program_in_their_only_workspace(dashboard: Dashboard):
    created = await dashboard.post("/api/programs", name="Shop", domain="https://Shop.example/pricing")

    assert created.status_code == 201
    assert created.json()["domain"] == "shop.example"
    assert (await dashboard.get(f"/api/programs/{created.json()['id']}")).json() == created.json()
    assert "api_token" not in created.json()


async def test_an_owner_of_two_workspaces_must_name_one(dashboard: Dashboard, globex: int):
    store = dashboard.acme.store
    await store.write(workspaces.add_member, globex, email=OLGA, role=Role.OWNER, password_hash=HASH, at=NOW)

    unnamed = await dashboard.post("/api/programs", name="Shop", domain="shop.example")
    named = await dashboard.post("/api/programs", name="Shop", domain="shop.example", workspace_id=globex)

    assert unnamed.json()["error"]["fields"][0]["field"] == "workspace_id"
    assert (await dashboard.get("/api/programs", "gina")).json()["data"] == [named.json()]


async def test_a_member_cannot_create_and_an_owner_only_in_their_workspace(dashboard: Dashboard, globex: int):
    by_member = await dashboard.post("/api/programs", MAX, name="Shop", domain="shop.example")
    elsewhere = await dashboard.post("/api/programs", name="Shop", domain="shop.example", workspace_id=globex)

    assert by_member.json()["error"]["code"] == "owner_required"
    assert elsewhere.json()["error"]["code"] == "forbidden"


async def test_only_sent_fields_change_and_the_log_has_the_old_and_new_values(dashboard: Dashboard):
    changed = await dashboard.patch(".", commission_rate=12.5, hold_days=30, unknown=1)

    log = (await dashboard.get("./audit-log", MAX)).json()["data"]
    expected: dict[str, Any] = {**FIELDS, "commission_rate": 12.5, "hold_days": 30}
    assert {name: changed.json()[name] for name in FIELDS} == expected
    assert {(entry["field"], entry["before"], entry["after"]) for entry in log} == {
        ("commission_rate", 20, 12.5),
        ("hold_days", 15, 30),
    }
    assert {entry["actor"]["name"] for entry in log} == {OLGA}


async def test_a_change_to_what_is_already_there_leaves_no_trace(dashboard: Dashboard):
    await dashboard.patch(".", name="Acme partners", commission_rate=20)

    assert (await dashboard.get("./audit-log")).json()["data"] == []


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"commission_rate": 100.01}, "commission_rate"),
        ({"commission_rate": 0.125}, "commission_rate"),
        ({"commission_rate": -1}, "commission_rate"),
        ({"commission_rate": "20"}, "commission_rate"),
        ({"commission_rate": True}, "commission_rate"),
        ({"commission_rate": 1e300}, "commission_rate"),
        ({"commission_type": "flat"}, "commission_rate"),
        ({"commission_type": "flat", "commission_rate": 1.5}, "commission_rate"),
        ({"commission_type": "free"}, "commission_type"),
        ({"platform_fee_rate": 0.001}, "platform_fee_rate"),
        ({"lead_commission_cents": -1}, "lead_commission_cents"),
        ({"lead_commission_cents": 2**70}, "lead_commission_cents"),
        ({"recurring_months": 1201}, "recurring_months"),
        ({"cookie_window_days": 0}, "cookie_window_days"),
        ({"attribution_window_days": 10**9}, "attribution_window_days"),
        ({"hold_days": 1.5}, "hold_days"),
        ({"name": None}, "name"),
        ({"name": "  "}, "name"),
        ({"name": "a\x00b"}, "name"),
        ({"domain": "//"}, "domain"),
        ({"currency": "US"}, "currency"),
        ({"lead_auth_policy": "anything"}, "lead_auth_policy"),
        ({"status": "gone"}, "status"),
    ],
)
async def test_a_wrong_field_is_named_and_nothing_changes(dashboard: Dashboard, body: dict[str, Any], field: str):
    answer = await dashboard.call("PATCH", ".", json=body)

    assert answer.status_code == 400
    assert [each["field"] for each in answer.json()["error"]["fields"]] == [field]
    assert (await dashboard.get(".")).json()["name"] == "Acme partners"


async def test_a_flat_commission_is_in_cents(dashboard: Dashboard):
    changed = (await dashboard.patch(".", commission_type="flat", commission_rate=550)).json()

    assert (changed["commission_type"], changed["commission_rate"]) == ("flat", 550)


async def test_a_code_that_is_no_currency_is_rejected_and_any_other_needs_no_rates(dashboard: Dashboard):
    answer = await dashboard.patch(".", currency="xyz")
    changed = await dashboard.patch(".", currency="eur")

    assert answer.json()["error"]["code"] == "currency_not_supported"
    assert (changed.status_code, changed.json()["currency"]) == (200, "EUR")


async def test_a_member_changes_nothing(dashboard: Dashboard):
    rejected = [
        await dashboard.patch(".", MAX, name=5),
        await dashboard.post("./regenerate-api-token", MAX),
        await dashboard.post("./partners", MAX),
        await dashboard.patch("./partners/1", MAX),
        await dashboard.patch("./commissions/1", MAX),
        await dashboard.patch("./commissions", MAX),
    ]

    assert [answer.status_code for answer in rejected] == [403] * 6
    assert {answer.json()["error"]["code"] for answer in rejected} == {"owner_required"}


async def test_a_regenerated_key_is_shown_once_and_nowhere_else(dashboard: Dashboard, caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.DEBUG)
    answer = await dashboard.post("./regenerate-api-token")
    secret = answer.json()["data"]["api_token"]

    reads = [await dashboard.get(path) for path in (".", "/api/programs", *(f"./{name}" for name in LISTS))]
    rejected = await dashboard.get(".", secret)
    said = "".join(each.text for each in (*reads, rejected)) + caplog.text
    assert set(answer.json()["data"]) == {"api_token", "api_token_masked"}
    assert secret.startswith("aff_")
    assert answer.headers["Cache-Control"] == "no-store"
    assert secret not in said
    assert keys.digest(secret) not in said
    assert secret[4:-4] not in said
    assert "program_key.regenerate" in said


async def test_the_old_key_fails_when_the_new_one_is_shown(dashboard: Dashboard):
    old = dashboard.acme.key
    new = (await dashboard.post("./regenerate-api-token")).json()["data"]["api_token"]

    assert (await dashboard.get("/api/v1/cli/status", old)).json()["error"]["code"] == "invalid_key"
    assert (await dashboard.get("/api/v1/cli/status", new)).status_code == 200


async def test_an_owner_deletes_a_program_before_its_first_event_and_not_after(dashboard: Dashboard):
    made = (await dashboard.post("/api/programs", name="New", domain="new.example")).json()["id"]
    path = f"/api/programs/{made}"

    by_member = await dashboard.call("DELETE", path, MAX)
    deleted = await dashboard.call("DELETE", path)
    gone = await dashboard.get(path)
    await dashboard.acme.visitor()
    used = await dashboard.call("DELETE", ".")

    assert (by_member.status_code, deleted.json(), gone.status_code) == (403, {"success": True}, 403)
    assert (used.status_code, used.json()["error"]["code"]) == (409, "program_has_events")


async def test_live_programs_and_sandboxes_are_listed_apart(dashboard: Dashboard):
    sandbox_id = (await dashboard.post("./sandbox")).json()["data"]["program_id"]

    live, sandboxes = [(await dashboard.get("/api/programs", kind=kind)).json()["data"] for kind in ("live", "sandbox")]

    assert [each["id"] for each in live] == [dashboard.acme.program_id]
    assert [(each["id"], each["sandbox_of"]) for each in sandboxes] == [(sandbox_id, dashboard.acme.program_id)]
