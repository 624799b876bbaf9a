"""A request from outside: its credential, its network, its name for the service, and an app that fails."""

import logging
from typing import Any

import pytest
from starlette.requests import Request

from web import credentials
from web.loopback import called
from web.middleware import RequestMiddleware
from web.network import network_of
from web.response import JsonResponse

SCOPE = {"type": "http", "method": "GET", "path": "/", "headers": []}
LOCAL, OTHER_LOCAL, PUBLIC = "http://127.0.0.1:8000", "http://localhost:8000", "https://track.example"


def test_only_a_bearer_header_of_any_case_gives_a_credential():
    for header in (None, "", "Bearer", "Bearer ", "Basic abc", "abc"):
        assert credentials.bearer(header) is None, header
    for scheme in ("Bearer", "bearer", "BEARER"):
        assert credentials.bearer(f"{scheme} aff_1") == "aff_1"


@pytest.mark.parametrize(
    ("host", "network"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:aaaa:bbbb:cccc:dddd", "2001:db8:1:2::/64"),
        ("testclient", "testclient"),
    ],
)
def test_a_client_is_an_ipv4_address_or_a_64_of_ipv6(host: str, network: str):
    assert network_of(Request({"type": "http", "client": (host, 1234)})) == network


def test_a_name_of_this_machine_is_as_good_as_another_at_the_same_port():
    assert called(LOCAL, "localhost:8000") == OTHER_LOCAL
    assert called(LOCAL, "[::1]:8000") == "http://[::1]:8000"
    assert called(OTHER_LOCAL, "127.0.0.1:8000") == LOCAL
    for host in ("localhost:9000", "evil.example:8000", "localhost:x", "", "user@localhost:8000"):
        assert called(LOCAL, host) == LOCAL, host
    assert [called(PUBLIC, host) for host in ("localhost", "track.example")] == [PUBLIC] * 2


async def receive() -> Any:
    return {"type": "http.request", "body": b"", "more_body": False}


async def test_a_client_that_closed_its_connection_leaves_no_line_in_the_log(caplog: pytest.LogCaptureFixture):
    async def send(_: Any) -> None:
        raise RuntimeError("unable to perform operation on <TCPTransport closed=True>; the handler is closed")

    await RequestMiddleware(JsonResponse({}))(dict(SCOPE), receive, send)

    assert caplog.records == []


async def test_an_app_that_fails_is_logged_and_returns_500(caplog: pytest.LogCaptureFixture):
    sent: list[Any] = []

    async def failing(*_: Any) -> None:
        raise ValueError("a fault of ours")

    async def send(message: Any) -> None:
        sent.append(message)

    await RequestMiddleware(failing)(dict(SCOPE), receive, send)

    assert [record.levelno for record in caplog.records] == [logging.ERROR]
    assert sent[0]["status"] == 500
