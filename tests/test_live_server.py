"""A real server process under strain: endless and stalling clients, and rate limits shared by several processes."""

import asyncio
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from tests import postgres
from tests.conftest import LiveServer
from tests.test_journeys import Integrator, prepared

Start = Callable[..., LiveServer]
WINDOW = {"SVC_RATE_LIMIT": "on", "SVC_CLICK_RATE": "3/hour"}


async def test_an_endless_body_is_refused_by_a_real_server_while_it_is_sent(sqlite_url: str, live_server: Start):
    server = live_server(sqlite_url)
    reader, writer = await asyncio.open_connection("127.0.0.1", httpx.URL(server.base_url).port)
    head = "POST /api/v1/track/click HTTP/1.1\r\nHost: svc\r\nContent-Type: application/json\r\n"
    writer.write(f"{head}Transfer-Encoding: chunked\r\n\r\n".encode())

    for _ in range(65):  # and never the last chunk
        writer.write(b"400\r\n" + b" " * 1024 + b"\r\n")
    status = await asyncio.wait_for(reader.readline(), timeout=20)

    writer.close()
    await writer.wait_closed()
    assert status.startswith(b"HTTP/1.1 413 ")


async def test_a_client_that_stalls_does_not_keep_a_server_from_stopping(sqlite_url: str, live_server: Start):
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


@pytest.fixture
def redis_url(tmp_path: Path) -> Iterator[str]:
    """The address of a Redis of our own."""
    if shutil.which("redis-server") is None:
        pytest.skip("redis-server is not installed (Debian: apt-get install redis-server)")
    port = postgres.free_port()
    command = ["redis-server", "--port", str(port), "--save", "", "--dir", str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        assert any("Ready to accept connections" in line for line in server.stdout)
        yield f"redis://127.0.0.1:{port}"
        server.terminate()


async def test_servers_share_rate_limits_through_redis(sqlite_url: str, live_server: Start, redis_url: str):
    acme = await prepared(sqlite_url)
    one, other = (live_server(sqlite_url, **WINDOW, SVC_REDIS_URL=redis_url) for _ in range(2))

    async with Integrator(one, acme) as left, Integrator(other, acme) as right:
        statuses = [(await integrator.click()).status_code for integrator in (left, right, left, right)]

    assert statuses == [200, 200, 200, 429]
