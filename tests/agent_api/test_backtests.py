"""Backtests over HTTP: one of a program at a time, which ends when its caller leaves."""

import json
from typing import Any

import pytest

from storage.reports import backtest
from tests.agent_api.conftest import Agents

BODY = {"changes": {"commission_rate": 25}}


async def leave(agents: Agents, *, after: int) -> int:
    """Send a backtest and leave when it has looked for its caller several times; return how often it looked."""
    path = f"/api/agent/v1/programs/{agents.acme.program_id}/backtest"
    headers = [(b"authorization", f"Bearer {agents.good}".encode()), (b"content-type", b"application/json")]
    scope = {"type": "http", "method": "POST", "path": path, "headers": headers, "query_string": b"", "root_path": ""}
    events: list[dict[str, Any]] = [{"type": "http.request", "body": json.dumps(BODY).encode()}]
    looked = 0

    async def receive() -> dict[str, Any]:
        nonlocal looked
        if events:
            return events.pop()
        looked += 1
        return {"type": "http.disconnect" if looked >= after else "http.request"}

    async def send(_: Any) -> None:
        pass

    scope |= {"client": ("127.0.0.1", 1), "server": ("svc.test", 80), "scheme": "http", "http_version": "1.1"}
    await agents.transport.app(scope, receive, send)
    return looked


WRONG: list[Any] = [{**BODY, "days": 367}, {**BODY, "days": 0}, {"changes": {"commission_type": "flat"}}, {}]
ENDED = {"changes": {"commission_rate": None}}


async def test_a_backtest_ends_when_its_caller_leaves_and_the_next_one_runs_alone(
    agents: Agents, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(backtest, "CHUNK", 1)
    await agents.acme.customer()
    for number in range(5):
        await agents.acme.sale(f"inv-{number}")

    looked = await leave(agents, after=2), await leave(agents, after=100)
    with backtest.alone(agents.acme.program_id):
        beside = await agents.call("POST", "./backtest", json=BODY)
    with backtest.alone(agents.acme.program_id + 1):
        priced = (await agents.call("POST", "./backtest", json=BODY)).json()
    rejected = [await agents.call("POST", "./backtest", json=wrong) for wrong in WRONG]

    assert looked == (2, 8)  # before each of 5 sales, 1 lead, and the ends of both
    assert (beside.status_code, beside.json()["error"]["code"]) == (429, "rate_limited")
    assert int(beside.headers["retry-after"]) > 0
    assert (priced["before"]["commission_cents"], priced["after"]["commission_cents"]) == (10_000, 12_500)
    assert [(each["partner_id"], each["name"]) for each in priced["partners"]] == [(agents.acme.anna, "Anna")]
    assert (priced["winners"], priced["sales"], priced["last"]) == (1, 5, "2026-05-20")
    assert (await agents.get(".")).json()["commission_rate"] == 20
    assert [each.status_code for each in rejected] == [400] * len(WRONG)


async def test_a_backtest_ends_special_terms_and_moves_a_partner_to_a_group(agents: Agents):
    await agents.acme.customer()
    await agents.acme.sale(amount_cents=10_000)
    own = await agents.call("PUT", f"./partners/{agents.acme.anna}/terms", json={"commission_rate": 22})
    await agents.call("PUT", "./partner-groups/gold/terms", json={"commission_rate": 23})
    about: list[Any] = [
        {"partner_id": agents.acme.anna},
        {"partner_id": agents.acme.anna, "group": "gold"},
        {"group": "gold"},
    ]

    ended = [await agents.call("POST", "./backtest", json=ENDED | each) for each in about]
    endless, unknown = [await agents.call("POST", "./backtest", json=ENDED | each) for each in ({}, {"partner_id": 7})]

    assert own.json()["terms"]["commission_rate"] == 22
    assert [each.json()["after"]["commission_cents"] for each in ended] == [2_000, 2_300, 2_000]
    assert (endless.status_code, endless.json()["error"]["fields"][0]["field"]) == (400, "commission_rate")
    assert (unknown.status_code, unknown.json()["error"]["code"]) == (400, "partner_not_found")
