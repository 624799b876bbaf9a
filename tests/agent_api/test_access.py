"""Who may call what: every method of every route, with every kind of credential. A new route needs a row here."""

from datetime import timedelta
from typing import Any, NamedTuple

import httpx
import pytest

from agent_api.app import PROGRAM, ROUTES
from storage.access import agent_keys
from storage.rules.scope import Scope
from tests import world
from tests.agent_api.conftest import Agents
from tests.world import HELD_SINCE, NOW

pytestmark = pytest.mark.anyio


class Row(NamedTuple):
    """What an endpoint returns to a good key; `scope` is what the contract says it needs."""

    scope: Scope | None
    status: int = 200
    query: str = ""
    body: Any = None


ME, PROGRAMS = "/api/agent/v1/me", "/api/agent/v1/programs"
EXPECTED = {
    ("GET", ME): Row(None),
    ("GET", PROGRAMS): Row(Scope.PROGRAMS_READ),
    ("GET", PROGRAM): Row(Scope.PROGRAMS_READ),
    ("PATCH", PROGRAM): Row(Scope.PROGRAMS_WRITE, body={"name": "Renamed"}),
    ("GET", f"{PROGRAM}/readiness"): Row(Scope.PROGRAMS_READ),
    ("GET", f"{PROGRAM}/audit-log"): Row(Scope.PROGRAMS_READ),
    ("GET", f"{PROGRAM}/performance"): Row(Scope.PERFORMANCE_READ),
    ("GET", f"{PROGRAM}/breakdown"): Row(Scope.PERFORMANCE_READ, query="?by=partner"),
    ("GET", f"{PROGRAM}/events"): Row(Scope.EVENTS_READ),
    ("GET", f"{PROGRAM}/refused-calls"): Row(Scope.EVENTS_READ),
    ("GET", f"{PROGRAM}/tracking-log"): Row(Scope.EVENTS_READ),
    ("GET", f"{PROGRAM}/explain"): Row(Scope.EVENTS_READ, query="?transaction_id=inv-1"),
    ("GET", f"{PROGRAM}/customers"): Row(Scope.CUSTOMERS_READ),
    ("GET", f"{PROGRAM}/customers/{{customer_id}}"): Row(Scope.CUSTOMERS_READ),
    ("GET", f"{PROGRAM}/commissions"): Row(Scope.COMMISSIONS_READ),
    ("PATCH", f"{PROGRAM}/commissions/{{commission_id}}"): Row(Scope.COMMISSIONS_WRITE, body={"status": "approved"}),
    ("GET", f"{PROGRAM}/flags"): Row(Scope.COMMISSIONS_READ),
    ("PATCH", f"{PROGRAM}/flags/{{flag_id}}"): Row(Scope.COMMISSIONS_WRITE, body={"state": "dismissed"}),
    ("GET", f"{PROGRAM}/partners"): Row(Scope.PARTNERS_READ),
    ("POST", f"{PROGRAM}/partners"): Row(Scope.PARTNERS_WRITE, 201, body={"name": "Cleo", "code": "cleo"}),
    ("PATCH", f"{PROGRAM}/partners/{{partner_id}}"): Row(Scope.PARTNERS_WRITE, body={"status": "paused"}),
}
SCOPES = {
    (method, route.path): next(iter(description.security[0]["agentKey"]), None)
    for route in ROUTES
    for method, description in route.descriptions.items()
}
ENDPOINTS = [(method, route.path) for route in ROUTES for method in sorted((route.methods or set()) - {"HEAD"})]


class Endpoint:
    """One endpoint of Acme's, with a customer and a commission to name in its path."""

    def __init__(self, agents: Agents, method: str, path: str, ids: dict[str, int]) -> None:
        self.agents = agents
        self.method = method
        self.path = path
        self.ids = ids
        self.row = EXPECTED[method, path]

    async def call(self, key: str | None, program_id: int | str | None = None) -> httpx.Response:
        ids = {"program_id": self.agents.acme.program_id if program_id is None else program_id, **self.ids}
        headers = {} if key is None else {"Authorization": f"Bearer {key}"}
        where = self.path.format(**ids) + self.row.query
        return await self.agents.client.request(self.method, where, headers=headers, json=self.row.body)


@pytest.fixture(params=ENDPOINTS, ids=" ".join)
async def endpoint(request: Any, agents: Agents) -> Endpoint:
    await agents.acme.customer(at=HELD_SINCE)
    sold = await agents.acme.sale(occurred_at=HELD_SINCE)
    customers = (await agents.get("./customers")).json()["data"]
    ids = {
        "customer_id": customers[0]["id"],
        "commission_id": sold.commission_id or 0,
        "partner_id": agents.acme.anna,
    }
    method, path = request.param
    if "{flag_id}" in path:  # an open flag holds commissions, which the other endpoints decide
        ids["flag_id"] = await agents.acme.flag()
    return Endpoint(agents, method, path, ids)


def code(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


def test_every_endpoint_has_its_row_and_the_scope_of_the_contract():
    assert set(EXPECTED) == set(ENDPOINTS)
    assert {endpoint: row.scope for endpoint, row in EXPECTED.items()} == SCOPES


async def test_a_good_key_is_served(endpoint: Endpoint):
    answer = await endpoint.call(endpoint.agents.good)

    assert answer.status_code == endpoint.row.status


async def test_a_key_with_the_one_scope_is_served(endpoint: Endpoint):
    key = await endpoint.agents.issue([endpoint.row.scope or Scope.EVENTS_READ])

    assert (await endpoint.call(key)).status_code == endpoint.row.status


async def test_no_malformed_unknown_revoked_and_expired_keys_are_invalid(endpoint: Endpoint):
    expired = await endpoint.agents.issue(expires_at=NOW)

    answers = [
        await endpoint.call(key) for key in (None, "agt_ x", "agt_unknown", await endpoint.agents.revoked(), expired)
    ]

    assert [code(answer) for answer in answers] == [(401, "invalid_key")] * 5


async def test_program_keys_and_sessions_are_the_wrong_type(endpoint: Endpoint):
    answers = [await endpoint.call(key) for key in (endpoint.agents.acme.key, await endpoint.agents.session())]

    assert [code(answer) for answer in answers] == [(401, "wrong_key_type")] * 2


async def test_a_missing_scope_is_named_and_outranks_the_program(endpoint: Endpoint):
    scope = endpoint.row.scope
    key = await endpoint.agents.issue([other for other in Scope if other != scope])
    if scope is None:
        assert (await endpoint.call(key)).status_code == 200
        return

    for program_id in (None, 999_999):
        answer = await endpoint.call(key, program_id)

        assert code(answer) == (403, "insufficient_scope")
        assert answer.json()["error"]["required_scope"] == scope


async def test_foreign_missing_and_unlisted_programs_get_the_same_error(endpoint: Endpoint):
    if "{program_id}" not in endpoint.path:
        assert endpoint.path in {ME, PROGRAMS}
        return
    agents = endpoint.agents
    narrowed = await agents.issue(program_ids=[agents.acme.program_id])
    foreign = await agents.issue(workspace_id=agents.globex.workspace_id)

    answers = [
        await endpoint.call(agents.good, agents.globex.program_id),
        await endpoint.call(agents.good, 999_999),
        await endpoint.call(agents.good, 10**17),
        await endpoint.call(agents.good, "nobody"),
        await endpoint.call(narrowed, agents.globex.program_id),
        await endpoint.call(foreign),
    ]

    bodies = [answer.json()["error"] for answer in answers]
    assert [code(answer) for answer in answers] == [(403, "program_not_allowed")] * 6
    assert all(body == bodies[0] for body in bodies)


async def test_a_limited_key_sees_only_its_program(agents: Agents):
    second = await world.program_of(agents.acme.store, agents.acme.workspace_id, agents.acme.owner_id)
    key = await agents.issue(program_ids=[agents.acme.program_id])

    listed = (await agents.call("GET", "/programs", key)).json()["data"]

    everything = (await agents.get("/programs")).json()["data"]
    assert [program["id"] for program in listed] == [agents.acme.program_id]
    assert [program["id"] for program in everything] == [second.program_id, agents.acme.program_id]


async def test_me_returns_the_scopes_and_programs_of_a_key(agents: Agents):
    until = NOW + timedelta(days=1)
    key = await agents.issue([Scope.EVENTS_READ], program_ids=[agents.acme.program_id], expires_at=until)

    me = (await agents.call("GET", "/me", key)).json()

    assert me["name"] == "Reporter"
    assert me["scopes"] == ["events:read"]
    assert me["programs"] == [agents.acme.program_id]
    assert me["expires_at"] == "2026-05-21T12:00:00Z"


async def test_a_key_that_is_used_often_is_written_once_in_five_minutes(agents: Agents):
    async def last_used() -> Any:
        found = await agents.acme.store.read(agent_keys.list_all, workspace_id=agents.acme.workspace_id)
        return found[0].last_used_at

    for minutes in (0, 1, 4, 6):
        agents.at = NOW + timedelta(minutes=minutes)
        await agents.get("/me")

        assert await last_used() == NOW + timedelta(minutes=6 if minutes == 6 else 0)
