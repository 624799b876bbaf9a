"""What agents change: programs behind an ETag, partners once for an Idempotency-Key, and the audit log of it all."""

from datetime import timedelta
from typing import Any

import httpx
import pytest

from tests.agent_api.conftest import Agents
from tests.world import NOW

pytestmark = pytest.mark.anyio
CLEO = {"name": "Cleo", "code": "cleo"}


async def enrol(agents: Agents, repeat: str | None, body: Any = None, key: str | None = "good") -> httpx.Response:
    headers = {} if repeat is None else {"Idempotency-Key": repeat}
    return await agents.call("POST", "./partners", key, json=body or CLEO, headers=headers)


async def change(agents: Agents, if_match: str | None, **body: Any) -> httpx.Response:
    headers = {} if if_match is None else {"If-Match": if_match}
    return await agents.call("PATCH", ".", json=body, headers=headers)


async def test_a_change_is_applied_to_the_version_it_names(agents: Agents):
    first = (await agents.get(".")).headers["etag"]

    changed = await change(agents, first, commission_rate=25)

    again = await agents.get(".")
    assert changed.status_code == 200
    assert changed.json()["commission_rate"] == 25
    assert changed.headers["etag"] == again.headers["etag"] != first
    assert changed.json() == again.json()


async def test_a_change_of_another_version_is_rejected_and_changes_nothing(agents: Agents):
    for stale in ('"999"', 'W/"1"', "nonsense", '"x"', ""):
        rejected = await change(agents, stale, name="Never")
        assert (rejected.status_code, rejected.json()["error"]["code"]) == (412, "precondition_failed"), stale

    assert (await agents.get(".")).json()["name"] == "Acme partners"


async def test_a_change_that_names_no_other_version_is_applied(agents: Agents):
    for fitting, name in ((None, "One"), ("*", "Two"), ('"7", "3"', "Three")):
        assert (await change(agents, fitting, name=name)).json()["name"] == name


async def test_status_id_and_key_are_not_an_agents_to_change(agents: Agents):
    before = (await agents.get(".")).json()

    changed = await change(agents, None, status="paused", id=7, api_token_masked="aff_x", created_at="2020-01-01")

    assert changed.json() == before


async def test_every_write_leaves_an_audit_entry_of_the_key(agents: Agents):
    partner = (await enrol(agents, None)).json()
    await agents.call("PATCH", f"./partners/{partner['id']}", json={"status": "paused"})
    await change(agents, None, hold_days=30)
    long_ago = NOW - timedelta(days=30)
    await agents.acme.customer(at=long_ago)
    sold = await agents.acme.sale(occurred_at=long_ago)
    await agents.call("PATCH", f"./commissions/{sold.commission_id}", json={"status": "approved"})

    entries = (await agents.get("./audit-log")).json()["data"]

    me = (await agents.get("/me")).json()
    actor = {"type": "agent_key", "id": str(me["id"]), "name": "Reporter"}
    shown = [(entry["action"], entry["field"], entry["before"], entry["after"]) for entry in entries]
    assert shown == [
        ("commission.decide", "status", "pending", "approved"),
        ("program.change", "hold_days", 15, 30),
        ("partner.change", "status", "active", "paused"),
        ("partner.enrol", None, None, {**CLEO, "email": None, "status": "active"}),
    ]
    assert all(entry["actor"] == actor and entry["at"] for entry in entries)


async def test_a_commission_changes_only_to_an_allowed_status(agents: Agents):
    await agents.acme.customer()
    sold = await agents.acme.sale()

    paid_at_once = await agents.call("PATCH", f"./commissions/{sold.commission_id}", json={"status": "paid"})
    nobodys = await agents.call("PATCH", "./commissions/1", json={"status": "approved"})

    assert paid_at_once.status_code == 400
    assert nobodys.status_code == 404


async def test_an_agent_approves_nothing_that_is_on_hold(agents: Agents):
    await agents.acme.customer()
    sold = await agents.acme.sale()
    asked = {"status": "approved", "override_hold_reason": "I am in a hurry"}

    early = await agents.call("PATCH", f"./commissions/{sold.commission_id}", json=asked)
    agents.at = NOW + timedelta(days=15)
    in_time = await agents.call("PATCH", f"./commissions/{sold.commission_id}", json=asked)

    assert (early.status_code, early.json()["error"]["code"]) == (409, "commission_on_hold")
    assert in_time.json()["status"] == "approved"


async def test_a_repeat_gets_the_first_response_and_enrols_no_partner(agents: Agents):
    first = await enrol(agents, "once")

    second = await enrol(agents, "once", {"code": "cleo", "name": "Cleo"})

    assert (first.status_code, second.status_code) == (201, 201)
    assert first.json() == second.json()
    assert second.headers["idempotency-replayed"] == "true"
    assert len((await agents.get("./partners", status="active")).json()["data"]) == 3


async def test_the_same_key_with_another_body_is_rejected(agents: Agents):
    await enrol(agents, "once")

    rejected = await enrol(agents, "once", {"name": "Dora", "code": "dora"})

    assert (rejected.status_code, rejected.json()["error"]["code"]) == (409, "idempotency_key_reused")


async def test_another_agent_keys_repeats_are_its_own(agents: Agents):
    await enrol(agents, "shared")

    other = await enrol(agents, "shared", {"name": "Dora", "code": "dora"}, await agents.issue())

    assert other.status_code == 201


async def test_an_idempotency_key_that_is_too_long_is_rejected(agents: Agents):
    rejected = await enrol(agents, "x" * 256)

    assert rejected.json()["error"]["fields"][0]["field"] == "Idempotency-Key"
