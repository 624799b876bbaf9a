"""An outage of the database as callers see it: 503 with Retry-After on every surface, and then all is well again."""

import asyncio
from collections.abc import AsyncIterator

import httpx
import pytest
from sqlalchemy import select

import storage
from storage.engine import postgres_lane
from storage.tables import refused_calls
from tests import world
from tests.proxy import Proxy
from tests.serving import in_the_loop
from tests.world import LANDING_PAGE

CLICK = {"program_id": 1, "affiliate_url": LANDING_PAGE}
AGENT = {"X-Agent-Key": "agt_" + "a" * 40}
CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "list_programs", "arguments": {}}}
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
MCP = AGENT | {"Accept": "application/json, text/event-stream", "Host": "localhost"}
PAGE = {"Accept": "text/html,application/xhtml+xml", "Cookie": "svc_session=ses_" + "a" * 40}


@pytest.fixture
async def client(between: Proxy) -> AsyncIterator[httpx.AsyncClient]:
    async with in_the_loop(database_url=between.url, rate_limit=False) as (made, _):
        yield made


async def becomes(client: httpx.AsyncClient, status: int) -> httpx.Response:
    """Ask /readyz until it answers with a status, for at most 20 seconds."""
    async with asyncio.timeout(20):
        while (answer := await client.get("/readyz")).status_code != status:
            pass
    return answer


async def test_every_surface_returns_503(client: httpx.AsyncClient, between: Proxy, caplog: pytest.LogCaptureFixture):
    await becomes(client, 200)
    between.lose_connections = True
    between.cut()
    await becomes(client, 503)

    answers = [
        await client.get("/readyz"),
        await client.post("/api/v1/track/click", json=CLICK),
        await client.post("/api/v1/track/sale", json={}, headers={"Authorization": "Bearer pk_1_x"}),
        await client.get("/api/agent/v1/programs", headers=AGENT),
        await client.post("/mcp", json=CALL, headers=MCP),
        await client.post("/mcp", json=LIST, headers=MCP),
    ]

    assert [(answer.status_code, answer.json()["error"]["code"]) for answer in answers] == [
        (503, "storage_unavailable")
    ] * len(answers)
    assert {answer.headers["retry-after"] for answer in answers} == {"2"}
    for path in ("/readyz", "/programs"):
        page = await client.get(path, headers=PAGE)
        assert (page.status_code, page.headers["retry-after"]) == (503, "2")
        assert page.headers["content-type"].startswith("text/html")
        assert "storage_unavailable" in page.text
        assert page.headers["x-request-id"] in page.text
    assert (await client.get("/healthz")).status_code == 200
    assert [record.exc_text or record.exc_info for record in caplog.records if record.exc_info] == []
    between.lose_connections = False
    await becomes(client, 200)


async def test_an_outage_is_not_logged_as_a_rejected_call(client: httpx.AsyncClient, between: Proxy, postgres_url: str):
    async with storage.opened(postgres_url) as store:
        acme = await world.acme(store)
        await becomes(client, 200)
        key, sale = {"Authorization": f"Bearer {acme.key}"}, {"transaction_id": "inv-1", "amount_cents": 1}
        answer = None
        while answer is None or answer.status_code != 503:  # housekeeping may lose a commit instead
            between.lose_commits = postgres_lane.TRIES
            answer = await client.post("/api/v1/track/sale", json={**sale, "customer_key": "u"}, headers=key)

        logged = await store.read(lambda connection: connection.execute(select(refused_calls.c.code)).scalars().all())
        assert answer.json()["error"]["code"] == "storage_unavailable"
        assert "storage_unavailable" not in logged
