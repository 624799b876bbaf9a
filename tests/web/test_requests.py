"""A request from outside: its credential, its network, its body in pieces, its name for us, and an app that fails."""

import asyncio
import itertools
import logging
from collections.abc import Iterable
from typing import Any

import pytest
from starlette.requests import Request
from starlette.types import Message, Receive

from storage.rules.errors import InvalidJson, PayloadTooLarge
from web import body, client
from web.client import called
from web.errors import BodyTooSlow, error_headers
from web.limits import network_of
from web.middleware import RequestMiddleware
from web.response import JsonResponse

SCOPE = {"type": "http", "method": "GET", "path": "/", "query_string": b"", "headers": []}
LOCAL, OTHER_LOCAL, PUBLIC = "http://127.0.0.1:8000", "http://localhost:8000", "https://track.example"
JSON: dict[str, Any] = {"headers": [(b"content-type", b"application/json")]}


def pieces(messages: Iterable[Message]) -> Receive:
    """Receive these messages one after the other, then nothing more for ever."""
    coming = iter(messages)

    async def receive() -> Message:
        message = next(coming, None)
        if message is None:
            await asyncio.Event().wait()
        assert message is not None
        return message

    return receive


def piece(content: bytes, *, more: bool) -> Message:
    return {"type": "http.request", "body": content, "more_body": more}


def test_only_a_bearer_header_of_any_case_gives_a_credential():
    for header in (None, "", "Bearer", "Bearer ", "Basic abc", "abc"):
        assert client.bearer(header) is None, header
    for scheme in ("Bearer", "bearer", "BEARER"):
        assert client.bearer(f"{scheme} aff_1") == "aff_1"


def test_a_client_is_an_ipv4_address_or_a_64_of_ipv6():
    for host, network in (
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:aaaa:bbbb:cccc:dddd", "2001:db8:1:2::/64"),
        ("testclient", "testclient"),
    ):
        assert network_of(Request({"type": "http", "client": (host, 1234)})) == network


def test_a_name_of_this_machine_is_as_good_as_another_at_the_same_port():
    assert called(LOCAL, "localhost:8000") == OTHER_LOCAL
    assert called(LOCAL, "[::1]:8000") == "http://[::1]:8000"
    assert called(OTHER_LOCAL, "127.0.0.1:8000") == LOCAL
    for host in ("localhost:9000", "evil.example:8000", "localhost:x", "", "user@localhost:8000"):
        assert called(LOCAL, host) == LOCAL, host
    assert [called(PUBLIC, host) for host in ("localhost", "track.example")] == [PUBLIC] * 2


async def test_an_app_that_fails_is_logged_and_returns_500_and_a_closed_connection_leaves_no_line_in_the_log(
    caplog: pytest.LogCaptureFixture,
):
    sent: list[Any] = []

    async def closed(_: Any) -> None:
        raise RuntimeError("unable to perform operation on <TCPTransport closed=True>; the handler is closed")

    async def failing(*_: Any) -> None:
        raise ValueError("a fault of ours")

    async def send(message: Any) -> None:
        sent.append(message)

    await RequestMiddleware(JsonResponse({}))(dict(SCOPE), pieces([]), closed)
    assert caplog.records == []
    await RequestMiddleware(failing)(dict(SCOPE), pieces([]), send)

    assert [record.levelno for record in caplog.records] == [logging.ERROR]
    assert sent[0]["status"] == 500


async def test_a_body_in_pieces_is_put_together_and_json_with_parameters_is_json():
    for declared in (b"application/json; charset=utf-8", b"Application/JSON", b"application/json ;x=y"):
        sent = {"headers": [(b"content-type", declared)]}
        receive = pieces([piece(b'{"a"', more=True), piece(b"", more=True), piece(b": 1}", more=False)])

        assert await body.read_body(sent, receive) == b'{"a": 1}'


async def test_reading_stops_at_the_first_byte_too_many():
    endless = itertools.repeat(piece(b" " * 10, more=True))

    assert len(await body.read_body(JSON, pieces([piece(b" " * 25, more=False)]), largest=25)) == 25
    for messages in ([piece(b" " * 26, more=False)], endless):
        with pytest.raises(PayloadTooLarge):
            await body.read_body(JSON, pieces(messages), largest=25)


async def test_a_declared_length_is_rejected_before_a_byte_is_read():
    async def untouched() -> Message:
        pytest.fail("the body was read")

    declared = {"headers": [*JSON["headers"], (b"content-length", b"%d" % (body.LARGEST_BODY + 1))]}
    with pytest.raises(PayloadTooLarge):
        await body.read_body(declared, untouched)


async def test_a_body_ends_before_its_connection_and_its_deadline():
    with pytest.raises(InvalidJson, match="ended before"):
        await body.read_body(JSON, pieces([piece(b"{", more=True), {"type": "http.disconnect"}]))
    with pytest.raises(BodyTooSlow) as rejected:
        await body.read_body(JSON, pieces([piece(b"{", more=True)]), seconds=0.01)

    assert error_headers(rejected.value) == {"Connection": "close"}


def test_of_a_key_sent_twice_the_last_one_counts():
    class Named(body.Body):
        name: str

    assert body.parse(Named, b'{"name": "a", "name": "b"}') == Named(name="b")
