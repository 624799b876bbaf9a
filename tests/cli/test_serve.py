"""`svc serve` and `svc demo` as real processes; silent connections end, heads are bounded, a full server says so."""

import asyncio
import json
import re
import socket
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from typing import Any

import httpx
import pytest
import uvicorn

from cli import serve
from cli.connections import Connection
from tests.cli.conftest import Svc

UNUSABLE = {
    "sqlite+aiosqlite:///missing/svc.db": "The folder {folder}/missing does not exist.",
    "sqlite+aiosqlite:///garbage.db": "{folder}/garbage.db is not a SQLite database.",
    "sqlite+aiosqlite:///a-folder": "{folder}/a-folder is a folder.",
    "sqlite+aiosqlite:////proc/svc.db": "This user may not write /proc/svc.db.",
    "sqlite+aiosqlite:///9999.db": "A newer version of the service migrated this database.",
    "postgresql+asyncpg://svc@127.0.0.1:1/svc": "PostgreSQL at 127.0.0.1:1 cannot be used: ",
}
Serve = Callable[..., int]


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_an_empty_server_migrates_and_prints_its_url_and_a_code_that_each_of_its_processes_takes(
    svc: Svc, request: pytest.FixtureRequest, kind: str
) -> None:
    environment, workers, log_format = {}, 1, "console"
    if kind == "postgresql":
        environment, workers, log_format = {"SVC_DATABASE_URL": request.getfixturevalue("postgres_url")}, 2, "json"
    with ExitStack() as stack:
        addresses, codes = [], []
        for _ in range(workers):
            serving = svc.running("serve", "--port", 0, "--workers", workers, SVC_LOG_FORMAT=log_format, **environment)
            server = stack.enter_context(serving)
            assert server.stdout
            lines = [server.stdout.readline() for _ in range(3)]
            served, link, alone = (json.loads(each)["event"] if log_format == "json" else each for each in lines)
            assert served.startswith("Serving on http://127.0.0.1:")
            addresses.append(served.split()[2])
            codes.append(alone.split()[-1])
            assert link.split()[-1] == f"{addresses[-1]}/set-up?code={codes[-1]}"

        for address in addresses:
            ready = httpx.get(f"{address}/readyz", timeout=60)
            assert (ready.json(), "server" in ready.headers) == ({"status": "ok"}, False)
            opened = [httpx.get(f"{address}/set-up?code={code}", timeout=60).status_code for code in (*codes, "set_x")]
            assert opened == [*[200] * len(codes), 404]
    assert len(set(codes)) == 1
    assert svc.database.exists() is (kind == "sqlite")


def test_a_server_with_a_workspace_prints_no_code(svc: Svc) -> None:
    svc.set_up()

    with svc.running("serve", "--port", 0) as server:
        assert server.stdout
        address = server.stdout.readline().split()[2]
        assert httpx.get(f"{address}/readyz", timeout=60).status_code == 200
        server.terminate()
        assert server.stdout.read() == ""


def test_demo_serves_a_workspace_whose_key_works_and_leaves_nothing_behind(svc: Svc) -> None:
    with svc.running("demo", "--port", 0) as demo:
        assert demo.stdout
        printed = "".join(iter(demo.stdout.readline, "Try\n"))
        address = re.findall(r"http://[\d.:]+", printed)[0]
        key = re.findall(r"aff_\S+", printed)[0]

        health = httpx.get(
            f"{address}/api/v1/cli/status", headers={"Authorization": f"Bearer {key}"}, timeout=60
        ).json()["data"]

    assert health["name"] == "Ledgerly"
    assert health["active_partners"] == 7
    assert all(step["done"] for step in health["checklist"])
    assert list(svc.folder.glob("svc-demo-*")) == []
    assert not svc.database.exists()


def test_serve_stops_at_a_wrong_value_without_a_traceback(svc: Svc):
    wrong = svc("serve", "--port", "0", SVC_CLICK_RATE="often", SVC_BODY_SECONDS="soon")
    workers = svc("serve", "--port", 0, "--workers", 2, SVC_BASE_ULR="https://a.example", SVC_NONSENSE="1")
    with socket.create_server(("127.0.0.1", 0)) as other:
        metrics = svc("serve", "--port", 0, SVC_METRICS_PORT=str(other.getsockname()[1]))

    assert (wrong.code, workers.code, metrics.code) == (1, 1, 1)
    assert metrics.stderr.splitlines()[-1] == "Choose another SVC_METRICS_PORT."
    assert [line.split(":")[0] for line in wrong.stderr.splitlines()] == ["Error", "SVC_BODY_SECONDS"]
    assert "SVC_CLICK_RATE" in wrong.stderr
    _version, misspelt, unknown, *error = workers.stderr.splitlines()
    assert "no setting is called SVC_BASE_ULR; is SVC_BASE_URL meant?" in misspelt
    assert "no setting is called SVC_NONSENSE [" in unknown
    assert error == [f"Error: {serve.ONE_WRITER}", "Use --workers 1, or PostgreSQL."]


def test_serve_says_in_one_line_why_the_database_cannot_be_used(svc: Svc):
    (svc.folder / "garbage.db").write_text("garbage " * 1000)
    (svc.folder / "a-folder").mkdir()
    with closing(sqlite3.connect(svc.folder / "9999.db")) as other:
        other.execute("CREATE TABLE alembic_version AS SELECT '9999' AS version_num")
        other.commit()

    for url, message in UNUSABLE.items():
        stopped = svc("serve", "--port", 0, SVC_DATABASE_URL=url)

        assert stopped.code == 1, url
        error, advice = stopped.stderr.splitlines()[-2:]
        assert error.startswith("Error: " + message.format(folder=svc.folder))
        assert advice, url


async def app(scope: Any, receive: Any, send: Any) -> None:  # noqa: ARG001 - ASGI's signature
    """Answer 200 to everything, once its body is there."""
    while (await receive())["more_body"]:
        pass
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


@contextmanager
def in_a_thread(**limits: Any) -> Iterator[int]:
    listening = serve.listen("127.0.0.1", 0)
    connection: Any = partial(Connection, **limits)
    server = uvicorn.Server(uvicorn.Config(app, loop="uvloop", http=connection, lifespan="off", log_config=None))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        yield listening.getsockname()[1]
    finally:
        server.should_exit = True
        thread.join()
        listening.close()


@pytest.fixture
def serving(monkeypatch: pytest.MonkeyPatch) -> Iterator[Serve]:
    """Serve with these limits: `serving(head_seconds=0.2)` returns the port."""
    monkeypatch.setenv("SVC_BASE_URL", "http://127.0.0.1")
    with ExitStack() as stack:
        yield lambda **limits: stack.enter_context(in_a_thread(**limits))


async def exchange(port: int, *parts: bytes) -> bytes:
    """Send parts, and return all that the server sends until it closes the connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for part in parts:
        writer.write(part)
    try:
        return await asyncio.wait_for(reader.read(), timeout=10)
    finally:
        writer.close()


async def test_a_connection_without_a_whole_head_is_closed(serving: Serve):
    port = serving(head_seconds=0.2)
    responses = {
        b"": 0,
        b"\r\n": 0,
        b"GET / HTTP/1.1\r\nHost: sv": 0,
        b"GET / HTTP/1.1\r\nHost: svc\r\n\r\n\r\n": 1,
    }

    received = await asyncio.gather(*(exchange(port, sent) for sent in responses))

    assert [each.count(b"HTTP/1.1 ") for each in received] == list(responses.values())


async def test_a_head_of_more_than_64_kib_is_rejected(serving: Serve):
    for head in (
        b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 12_000 + b"\r\n",
        b"GET / HTTP/1.1\r\nCookie: ".ljust(65_537, b"a"),
        b"GET / HTTP/1.1\r\nCookie: ".ljust(2_000_000, b"a"),  # more than is read before the response
        b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\n\r\n",
    ):
        status, body = (await exchange(serving(), head)).split(b"\r\n\r\n", 1)

        assert status.startswith(b"HTTP/1.1 431 "), head[:24]
        assert json.loads(body)["error"]["code"] == "payload_too_large"


async def test_http_1_1_names_one_host(serving: Serve):
    port, host = serving(), b"Host: svc\r\n"
    responses = {
        b"GET / HTTP/1.1\r\n\r\n": b"400",
        b"GET / HTTP/1.1\r\n" + host * 2 + b"\r\n": b"400",
        b"GET / HTTP/1.0\r\n\r\n": b"200",
        b"GET / HTTP/1.1\r\nConnection: close\r\n" + host + b"\r\n": b"200",
    }

    received = await asyncio.gather(*(exchange(port, sent) for sent in responses))

    assert [each.split(b" ")[1] for each in received] == list(responses.values())


async def test_a_head_of_60_kib_and_a_large_body_are_served(serving: Serve):
    head = b"POST / HTTP/1.1\r\nHost: svc\r\nContent-Length: 200000\r\nConnection: close\r\nCookie: " + b"a" * 60_000

    received = await exchange(serving(), head, b"\r\n\r\n" + b"x" * 200_000)

    assert received.startswith(b"HTTP/1.1 200 ")


async def test_a_request_above_the_limit_of_connections_gets_503(serving: Serve):
    port = serving(most_connections=1)
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"GET / HTTP/1.1\r\nHost: svc\r\n\r\n")
    first = await reader.readuntil(b"ok")

    received = await exchange(port, b"GET / HTTP/1.1\r\nHost: svc\r\n\r\n")

    writer.write(b"GET / HTTP/1.1\r\nHost: svc\r\nConnection: close\r\n\r\n")
    afterwards = await reader.read()
    writer.close()
    assert first.startswith(b"HTTP/1.1 200 ")
    assert received.startswith(b"HTTP/1.1 503 ")
    assert b"\r\nretry-after: 1\r\n" in received
    assert json.loads(received.split(b"\r\n\r\n", 1)[1])["error"]["code"] == "overloaded"
    assert afterwards.startswith(b"HTTP/1.1 200 ")
