"""The outermost layer: what fails is logged once, and a client that has gone is no failure."""

import logging
from typing import Any

import pytest

from web.middleware import RequestMiddleware
from web.response import JsonResponse

SCOPE = {"type": "http", "method": "GET", "path": "/", "headers": []}


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
