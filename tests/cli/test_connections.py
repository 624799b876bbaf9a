"""Connections: silent ones end, heads are bounded, a full server says so, a stopping one answers what is open."""

import asyncio
import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any, cast

import pytest
import uvicorn

from cli import serve
from cli.connections import Connection, Server

Serve = Callable[..., int]


async def app(scope: Any, receive: Any, send: Any) -> None:  # noqa: ARG001 - ASGI's signature
    """Answer 200 to everything, once its body is there."""
    while (await receive())["more_body"]:
        pass
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


@pytest.fixture
def serving(monkeypatch: pytest.MonkeyPatch) -> Iterator[Serve]:
    """Serve with these limits: `serving(head_seconds=0.2)` returns the port."""
    monkeypatch.setenv("SVC_BASE_URL", "http://127.0.0.1")

    @contextmanager
    def in_a_thread(**limits: Any) -> Iterator[int]:
        connection: Any = partial(Connection, **limits)
        server = uvicorn.Server(uvicorn.Config(app, loop="uvloop", http=connection, lifespan="off", log_config=None))
        with serve.listen("127.0.0.1", 0) as listening:
            thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
            thread.start()
            yield listening.getsockname()[1]
            server.should_exit = True
            thread.join()

    with ExitStack() as stack:
        yield lambda **limits: stack.enter_context(in_a_thread(**limits))


async def exchange(port: int, sent: bytes) -> bytes:
    """Send something, and return all that the server sends until it closes the connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(sent)
    try:
        return await asyncio.wait_for(reader.read(), timeout=10)
    finally:
        writer.close()


async def test_a_connection_without_a_whole_head_is_closed(serving: Serve):
    port = serving(head_seconds=0.2)
    responses = {b"": 0, b"\r\n": 0, b"GET / HTTP/1.1\r\nHost: sv": 0, b"GET / HTTP/1.1\r\nHost: svc\r\n\r\n\r\n": 1}

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


async def test_http_1_1_names_one_host_and_a_head_of_60_kib_and_a_large_body_are_served(serving: Serve):
    port, host, last = serving(), b"Host: svc\r\n", b"Connection: close\r\n"
    large = host + b"Content-Length: 200000\r\nCookie: " + b"a" * 60_000 + b"\r\n" + last
    responses = {
        b"GET / HTTP/1.1\r\n\r\n": b"400",
        b"GET / HTTP/1.1\r\n" + host * 2 + b"\r\n": b"400",
        b"GET / HTTP/1.0\r\n\r\n": b"200",
        b"GET / HTTP/1.1\r\n" + last + host + b"\r\n": b"200",
        b"POST / HTTP/1.1\r\n" + large + b"\r\n" + b"x" * 200_000: b"200",
    }

    received = await asyncio.gather(*(exchange(port, sent) for sent in responses))

    assert [each.split(b" ")[1] for each in received] == list(responses.values())


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


async def test_a_server_that_stops_answers_each_connection_that_is_open(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SVC_BASE_URL", "http://127.0.0.1")
    listening, connection = serve.listen("127.0.0.1", 0), cast("Any", Connection)
    config = uvicorn.Config(app, http=connection, lifespan="off", log_config=None)
    config.load()
    server = Server(config)
    server.lifespan = config.lifespan_class(config)
    await server.startup([listening])
    address = listening.getsockname()
    accepted = await asyncio.open_connection(*address)
    waiting = [socket.create_connection(address) for _ in range(5)]  # nothing has accepted them
    stopping = asyncio.create_task(server.shutdown([listening]))

    opened = [accepted, *[await asyncio.open_connection(sock=each) for each in waiting]]
    for _, writer in opened:
        writer.write(b"GET / HTTP/1.1\r\nHost: svc\r\n\r\n")
    received = [await reader.read() for reader, _ in opened]

    await stopping
    for _, writer in opened:
        writer.close()
    assert [each.split(b" ")[1] for each in received] == [b"200"] * 6
    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_connection(*address)
