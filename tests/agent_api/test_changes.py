"""What agents change: programs behind an ETag, partners once for an Idempotency-Key, commissions and flags by scope."""

from datetime import datetime, timedelta
from typing import Any

import httpx
import pytest

from storage.access import agent_keys
from storage.management import agent_caps
from storage.rules.scope import Scope
from storage.tables import customers
from tests.agent_api.conftest import Agents
from tests.world import HELD_SINCE, NOW, stored

CLEO = {"name": "Cleo", "code": "cleo"}
SALES = ((2, 1_000_100), (3, 10_000), (4, 10_000))
WRITE, PAY = Scope.COMMISSIONS_WRITE, Scope.COMMISSIONS_PAY


async def enrol(agents: Agents, repeat: str | None, body: Any = None, key: str | None = "good") -> httpx.Response:
    headers = {} if repeat is None else {"Idempotency-Key": repeat}
    return await agents.call("POST", "./partners", key, json=body or CLEO, headers=headers)


async def change(agents: Agents, if_match: str | None, **body: Any) -> httpx.Response:
    headers = {} if if_match is None else {"If-Match": if_match}
    return await agents.call("PATCH", ".", json=body, headers=headers)


async def decide(agents: Agents, path: str, body: Any, key: str = "good") -> httpx.Response:
    return await agents.call("PATCH", path, key, json={"status": body} if isinstance(body, str) else body)


async def sold(agents: Agents, at: datetime = NOW) -> str:
    """Return the path of a commission."""
    await agents.acme.customer(at=at)
    sale = await agents.acme.sale(occurred_at=at)
    return f"./commissions/{sale.commission_id}"


@pytest.fixture
async def path(agents: Agents) -> str:
    """The path of a commission that is off hold."""
    return await sold(agents, HELD_SINCE)


async def test_a_change_is_applied_to_the_version_it_names_and_to_no_other(agents: Agents):
    first = (await agents.get(".")).headers["etag"]

    changed = await change(agents, first, commission_rate=25)

    again = await agents.get(".")
    assert (changed.status_code, changed.json()["commission_rate"], changed.json()) == (200, 25, again.json())
    assert changed.headers["etag"] == again.headers["etag"] != first
    for fitting, name in ((None, "One"), ("*", "Two"), ('"7", "4"', "Three")):
        assert (await change(agents, fitting, name=name)).json()["name"] == name
    for stale in ('"999"', 'W/"1"', "nonsense", '"x"', ""):
        rejected = await change(agents, stale, name="Never")
        assert (rejected.status_code, rejected.json()["error"]["code"]) == (412, "precondition_failed"), stale
    assert (await agents.get(".")).json()["name"] == "Three"


async def test_every_write_leaves_an_audit_entry_of_the_key(agents: Agents, path: str):
    partner = (await enrol(agents, None)).json()
    await agents.call("PATCH", f"./partners/{partner['id']}", json={"status": "paused"})
    await change(agents, None, cookie_window_days=30)
    await decide(agents, path, "approved")

    entries = (await agents.get("./audit-log")).json()["data"]

    me = (await agents.get("/me")).json()
    actor = {"type": "agent_key", "id": str(me["id"]), "name": "Reporter"}
    shown = [(entry["action"], entry["field"], entry["before"], entry["after"]) for entry in entries]
    assert shown == [
        ("commission.decide", "status", "pending", "approved"),
        ("program.change", "cookie_window_days", 60, 30),
        ("partner.change", "status", "active", "paused"),
        ("partner.enrol", None, None, {**CLEO, "email": None, "status": "active"}),
    ]
    assert all(entry["actor"] == actor and entry["at"] for entry in entries)


async def test_approving_and_paying_need_a_scope_each(agents: Agents, path: str):
    writer, payer, reader = [await agents.issue([scope]) for scope in (WRITE, PAY, Scope.COMMISSIONS_READ)]

    for status, key, missing in (
        ("approved", payer, WRITE),
        ("approved", writer, None),
        ("paid", writer, PAY),
        ("paid", reader, PAY),
        ("rejected", payer, WRITE),
        ("paid", payer, None),
    ):
        answer = (await decide(agents, path, status, key)).json()
        error = answer.get("error", {})
        assert (error.get("required_scope"), answer.get("status")) == (missing, None if missing else status), status
        assert error.get("code") == ("insufficient_scope" if missing else None)


async def test_a_malformed_decision_needs_the_scope_to_write_first(agents: Agents, path: str):
    payer = await agents.issue([PAY])
    bodies: list[Any] = [{}, {"status": "odd"}, {"status": ["paid"]}, [], {"status": None}]

    for body in bodies:
        rejected = await decide(agents, path, body, payer)
        assert (rejected.status_code, rejected.json()["error"]["required_scope"]) == (403, WRITE), body
        assert (await decide(agents, path, body)).status_code == 400, body


async def test_where_the_owner_wants_two_keys_one_pays_what_another_key_or_an_owner_approved(agents: Agents, path: str):
    await agents.acme.do(agent_caps.change, {"two_keys_to_pay": True})
    await decide(agents, path, "approved")
    second = (await agents.acme.sale("inv-2", occurred_at=HELD_SINCE)).commission_id
    await agents.acme.decide("approved", second, at=NOW)

    same = await decide(agents, path, "paid")
    paid = [
        await decide(agents, path, "paid", await agents.issue()),
        await decide(agents, f"./commissions/{second}", "paid"),
    ]

    assert (same.status_code, same.json()["error"]["code"]) == (403, "second_key_required")
    assert [answer.json()["status"] for answer in paid] == ["paid", "paid"]


async def test_a_flag_holds_its_commission_until_an_agent_dismisses_it(agents: Agents, path: str):
    [(customer_id,)] = await stored(agents.acme, customers.c.id)
    flag = f"./flags/{await agents.acme.flag(customer_id)}"

    held = (await decide(agents, path, "approved")).json()["error"]
    dismissed = await decide(agents, flag, {"state": "dismissed", "reason": "Looked into it."})
    same_key = await decide(agents, path, "approved")
    approved = await decide(agents, path, "approved", await agents.issue())

    assert (held["code"], held["flags"]) == ("commission_flagged", ["shared_click"])
    assert (dismissed.json()["state"], approved.json()["status"]) == ("dismissed", "approved")
    assert (same_key.status_code, same_key.json()["error"]["code"]) == (403, "second_key_required")
    assert (await decide(agents, flag, {"state": "confirmed"})).status_code == 400


async def test_the_key_that_approved_a_commission_releases_it_from_no_later_flag(agents: Agents, path: str):
    await decide(agents, path, "approved")
    [(customer_id,)] = await stored(agents.acme, customers.c.id)
    flag, decision = f"./flags/{await agents.acme.flag(customer_id)}", {"state": "dismissed"}

    same_key = await decide(agents, flag, decision)
    other_key = await decide(agents, flag, decision, await agents.issue())

    assert (same_key.status_code, same_key.json()["error"]["code"]) == (403, "second_key_required")
    assert (other_key.json()["state"], (await decide(agents, path, "paid")).json()["status"]) == ("dismissed", "paid")


async def test_what_all_keys_approve_and_pay_in_a_day_has_a_cap_in_number_and_sum(agents: Agents, path: str):
    caps = {"commissions_in_a_day": 2, "amount_in_a_day_cents": 4_000}  # the worth of two
    await agents.acme.do(agent_caps.change, caps)
    others = [await agents.acme.sale(f"inv-{n}", amount_cents=amount, occurred_at=HELD_SINCE) for n, amount in SALES]
    paths = [path, *(f"./commissions/{each.commission_id}" for each in others)]
    keys = [await agents.issue() for _ in paths]

    async def decided(status: str) -> list[str | None]:
        answers = [await decide(agents, each, status, key) for each, key in zip(paths, keys, strict=True)]
        return [answer.json().get("error", {}).get("cap") for answer in answers]

    assert await decided("approved") == [None, "amount_in_a_day_cents", None, "commissions_in_a_day"]
    assert await decided("paid") == [None] * 4  # two are paid, and two are not approved
    agents.at += timedelta(days=1)
    assert (await decide(agents, paths[3], "approved")).json()["status"] == "approved"


async def test_a_repeat_gets_the_first_response_and_enrols_no_partner(agents: Agents):
    first = await enrol(agents, "once")

    second = await enrol(agents, "once", {"code": "cleo", "name": "Cleo"})
    reused = await enrol(agents, "once", {"name": "Dora", "code": "dora"})
    other = await enrol(agents, "once", {"name": "Dora", "code": "dora"}, await agents.issue())
    too_long = await enrol(agents, "x" * 256)

    assert (first.status_code, second.status_code, first.json()) == (201, 201, second.json())
    assert second.headers["idempotency-replayed"] == "true"
    assert (reused.status_code, reused.json()["error"]["code"]) == (409, "idempotency_key_reused")
    assert other.status_code == 201  # another key's repeats are its own
    assert too_long.json()["error"]["fields"][0]["field"] == "Idempotency-Key"
    assert len((await agents.get("./partners", status="active")).json()["data"]) == 4


async def test_what_a_key_may_not_do_is_counted_by_cap_and_scope_where_its_program_is_read(agents: Agents):
    reader = await agents.issue([Scope.PROGRAMS_READ])
    for _ in range(2):
        await agents.call("PATCH", ".", json={"commission_rate": 90})
    await agents.call("PATCH", ".", reader, json={"commission_rate": 21})
    await agents.call("PATCH", "/programs/999", reader, json={"commission_rate": 21})

    counted = await agents.acme.store.read(agent_keys.list_rejections, agents.acme.program_id)

    found = sorted((each.code, each.about, each.calls, each.first_at) for each in counted)
    assert found == [("insufficient_scope", "programs:write", 1, NOW), ("over_cap", "highest_rate", 2, NOW)]
