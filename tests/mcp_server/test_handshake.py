"""Tool calls of the handshake era: a plain one is answered without the SDK, anything else is left to it."""

import json
from typing import Any

import pytest
from starlette.types import Message, Receive, Scope, Send

from mcp_server.caller import SCOPE_MEMBER, Caller
from mcp_server.handshake import HandshakeToolCalls
from tests.mcp_server.conftest import HANDSHAKE, MODERN, Assistant

pytestmark = pytest.mark.anyio
HEADERS = {"host": "svc.test", "accept": "application/json", "mcp-protocol-version": HANDSHAKE}
CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "list_programs"}}
LEFT = {"left": "to the SDK"}


async def answer(assistant: Assistant, headers: list[tuple[str, str]], body: Any) -> Any:
    """Return what a request is answered with, by ours or by the app inside."""
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": json.dumps(body).encode(), "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    async def sdk(_scope: Scope, receive: Receive, send: Send) -> None:
        assert json.loads((await receive())["body"]) == body
        await send({"type": "http.response.body", "body": json.dumps(LEFT).encode()})

    caller = Caller(assistant.acme.store.reader, assistant.good, assistant.at, "request-1", resource="")
    raw = [(name.encode(), value.encode()) for name, value in headers]
    scope = {"type": "http", "method": "POST", "headers": raw, SCOPE_MEMBER: caller}
    await HandshakeToolCalls(sdk, base_url="http://svc.test", hosts=["svc.test"])(scope, receive, send)
    return json.loads(sent[-1]["body"])


async def test_a_plain_tool_call_does_not_reach_the_sdk(assistant: Assistant):
    answered = await answer(assistant, list(HEADERS.items()), CALL)

    assert answered["result"]["structuredContent"]["data"]


@pytest.mark.parametrize(
    "header",
    [
        ("host", "evil.example"),
        ("accept", "text/html"),
        ("mcp-protocol-version", MODERN),
        ("mcp-protocol-version", "1999-01-01"),
        ("origin", "http://svc.test"),
    ],
)
async def test_headers_that_need_a_check_are_left_to_the_sdk(assistant: Assistant, header: tuple[str, str]):
    assert await answer(assistant, list({**HEADERS, **dict([header])}.items()), CALL) == LEFT


async def test_a_header_that_is_sent_twice_is_left_to_the_sdk(assistant: Assistant):
    assert await answer(assistant, [("host", "evil.example"), *HEADERS.items()], CALL) == LEFT


@pytest.mark.parametrize(
    "body",
    [
        {**CALL, "method": "tools/list"},
        {**CALL, "params": {}},
        {**CALL, "params": {"name": "list_programs", "arguments": []}},
        {**CALL, "id": None},
        {**CALL, "jsonrpc": "1.0"},
        [CALL],
        "tools/call",
    ],
)
async def test_a_body_that_is_no_plain_tool_call_is_left_to_the_sdk(assistant: Assistant, body: Any):
    assert await answer(assistant, list(HEADERS.items()), body) == LEFT
