"""A real server process under strain: stalling clients, and rate limits shared by several processes."""

import asyncio
import signal
from collections.abc import Callable

import httpx

from tests.conftest import LiveServer
from tests.redis import RedisServer
from tests.test_journeys import Integrator, prepared

Start = Callable[..., LiveServer]
WINDOW = {"SVC_RATE_LIMIT": "on", "SVC_CLICK_RATE": "3/hour"}


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
    acme = await prepared(sqlite_url)
    one, other = (live_server(sqlite_url, **WINDOW, SVC_REDIS_URL=redis_server.url) for _ in range(2))

    async with Integrator(one, acme) as left, Integrator(other, acme) as right:
        statuses = [(await integrator.click()).status_code for integrator in (left, right, left, right)]

    assert statuses == [200, 200, 200, 429]


async def test_calls_go_on_while_redis_is_stalled(sqlite_url: str, live_server: Start, redis_server: RedisServer):
    acme = await prepared(sqlite_url)
    server = live_server(sqlite_url, **WINDOW, SVC_REDIS_URL=redis_server.url)

    async with Integrator(server, acme) as integrator:
        before = (await integrator.click()).status_code
        redis_server.process.send_signal(signal.SIGSTOP)
        clicks = [(await integrator.click()).status_code for _ in range(4)]
        wrong_password = {"email": "ada@acme.example", "password": "wrong"}
        sign_in = await integrator.client.post("/api/auth/login", json=wrong_password)
        assistant = await integrator.client.post("/mcp", headers={"Authorization": "Bearer agt_wrong"}, json={})

    assert (before, clicks) == (200, [200, 200, 200, 429])
    assert (sign_in.status_code, assistant.status_code) == (401, 401)
