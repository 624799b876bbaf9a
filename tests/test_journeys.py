"""Journeys through real server processes: a restart, regenerated keys, stalled clients and shared rate limits."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import httpx

import storage
from storage import Storage
from storage.access import program_keys
from storage.checks import books
from tests import world
from tests.conftest import LiveServer
from tests.redis import RedisServer
from tests.serving import PLAIN, Served
from tests.world import BY, LANDING_PAGE, World

Start = Callable[..., LiveServer]
Done = TypeVar("Done")
WINDOW = {"SVC_RATE_LIMIT": "on", "SVC_CLICK_RATE": "3/hour"}


async def stored(database_url: str, see: Callable[[Storage], Awaitable[Done]]) -> Done:
    """Look into a database from outside the servers, as patiently as a command does."""
    async with storage.opened(database_url, patient=True) as store:
        return await see(store)


class Integrator(httpx.AsyncClient):
    """Acme's integration: calls a server with Acme's key."""

    def __init__(self, server: Served, acme: World, key: str | None = None) -> None:
        self._acme = acme
        headers = {"Authorization": f"Bearer {key or acme.key}", "User-Agent": "Mozilla/5.0 Firefox/140.0"}
        super().__init__(base_url=server.base_url, headers=headers, timeout=60, verify=PLAIN)

    async def track(self, call: str, **body: Any) -> httpx.Response:
        return await self.post(f"/api/v1/track/{call}", json=body)

    async def click(self) -> httpx.Response:
        return await self.track("click", program_id=self._acme.program_id, affiliate_url=LANDING_PAGE)

    async def customer(self, customer_key: str = "user-1") -> None:
        """Take a visitor from click to settled lead."""
        click_id = (await self.click()).json()["click_id"]
        led = await self.track("lead", click_id=click_id, customer_key=customer_key, email="jane@example.com")
        assert led.status_code == 200

    async def sale(self, transaction_id: str = "inv-1", amount_cents: int = 10_000) -> httpx.Response:
        return await self.track("sale", transaction_id=transaction_id, customer_key="user-1", amount_cents=amount_cents)

    async def status(self) -> httpx.Response:
        return await self.get("/api/v1/cli/status")


async def test_from_click_to_refund_across_a_restart(database_url: str, live_server: Start):
    acme = await stored(database_url, world.acme)
    first = live_server(database_url)
    async with Integrator(first, acme) as integrator:
        await integrator.customer()
        sold = (await integrator.sale()).json()["data"]
        halved = (await integrator.track("refund", transaction_id="inv-1", refund_amount_cents=5_000)).json()["data"]
    first.process.terminate()
    first.process.wait(timeout=20)

    async with Integrator(live_server(database_url), acme) as integrator:
        again = await integrator.sale()
        rest = (await integrator.track("refund", transaction_id="inv-1")).json()["data"]

    assert [each["commission_reversed_cents"] for each in (halved, rest)] == [1_000, 1_000]
    assert (again.status_code, again.json()["error"]["existing"]["eventId"]) == (409, sold["eventId"])
    assert rest["status"] == "refunded"
    assert await stored(database_url, lambda store: store.read(books.run)) == []


async def test_a_replaced_key_fails_at_the_next_call_in_every_worker(database_url: str, live_server: Start):
    acme = await stored(database_url, world.acme)
    server = live_server(database_url, workers=1 if "sqlite" in database_url else 2)

    async def statuses(key: str) -> set[int]:
        found = set()
        for _ in range(8):  # each on a connection of its own: the workers share them out
            async with Integrator(server, acme, key) as integrator:
                found |= {(await integrator.status()).status_code, (await integrator.sale()).status_code}
        return found

    async with Integrator(server, acme) as integrator:
        await integrator.customer()
        assert (await integrator.sale()).status_code == 200
    before = await statuses(acme.key)
    new = await stored(database_url, lambda store: store.write(program_keys.regenerate, acme.program_id, by=BY))

    assert (before, await statuses(acme.key), await statuses(new.api_token)) == ({200, 409}, {401}, {200, 409})


async def test_a_stalled_client_does_not_prevent_a_server_from_stopping(sqlite_url: str, live_server: Start):
    server = live_server(sqlite_url)
    _, writer = await asyncio.open_connection("127.0.0.1", httpx.URL(server.base_url).port)
    head = "POST /api/v1/track/click HTTP/1.1\r\nHost: svc\r\nContent-Type: application/json\r\n"
    writer.write(f"{head}Content-Length: 100\r\n\r\n{{".encode())
    await writer.drain()
    async with httpx.AsyncClient() as client:  # the server has seen the stalling call once it answers a later one
        await client.get(f"{server.base_url}/healthz")

    server.process.terminate()

    assert await asyncio.to_thread(server.process.wait, timeout=15) is not None
    writer.close()


async def test_servers_share_rate_limits_through_redis(sqlite_url: str, live_server: Start, redis_server: RedisServer):
    acme = await stored(sqlite_url, world.acme)
    one, other = (live_server(sqlite_url, **WINDOW, SVC_REDIS_URL=redis_server.url) for _ in range(2))

    async with Integrator(one, acme) as left, Integrator(other, acme) as right:
        statuses = [(await integrator.click()).status_code for integrator in (left, right, left, right)]

    assert statuses == [200, 200, 200, 429]
