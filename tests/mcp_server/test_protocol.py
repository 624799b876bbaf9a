"""The protocol in each version: a plain tool call is answered without the SDK, as the SDK's own transports answer."""

import json
from typing import Any

import pytest
from starlette.types import Message, Receive, Scope, Send

from mcp_server.caller import SCOPE_MEMBER, Caller
from mcp_server.handshake import HandshakeToolCalls
from tests.mcp_server.conftest import HANDSHAKE, MODERN, VERSIONS, Assistant

pytestmark = pytest.mark.anyio
HELLO = {"protocolVersion": HANDSHAKE, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
REQUESTS: list[tuple[str, dict[str, Any]]] = [
    ("initialize", HELLO),
    ("ping", {}),
    ("tools/list", {}),
    ("tools/call", {"name": "list_programs", "arguments": {}}),
    ("tools/call", {"name": "get_program", "arguments": {"program_id": 1}}),
    ("tools/call", {"name": "nothing"}),
    ("tools/call", {"name": "nothing", "arguments": []}),
    ("tools/call", {}),
    ("prompts/get", {"name": "nothing"}),
    ("resources/read", {"uri": "guide://metrics"}),
    ("logging/setLevel", {"level": "info"}),
    ("server/discover", {}),
    ("no/such/method", {}),
]
HEADERS = {"host": "svc.test", "accept": "application/json", "mcp-protocol-version": HANDSHAKE}
CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "list_programs"}}
TO_CHECK = {
    "host": "evil.example",
    "accept": "text/html",
    "mcp-protocol-version": MODERN,
    "MCP-Protocol-Version": "1999-01-01",
    "origin": "http://svc.test",
}
NOT_PLAIN: list[Any] = [
    {**CALL, "method": "tools/list"},
    {**CALL, "params": {}},
    {**CALL, "params": {"name": "list_programs", "arguments": []}},
    {**CALL, "id": None},
    {**CALL, "jsonrpc": "1.0"},
    [CALL],
    "tools/call",
]
LEFT = {"left": "to the SDK"}


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_response_is_the_same_as_the_sdks_transport_gives(assistant: Assistant, version: str):
    named = {"Origin": "http://localhost:6274"}  # a request that names one is left to the SDK
    for method, params in REQUESTS:
        ours = (await assistant.call(method, params, version=version)).http
        theirs = (await assistant.call(method, params, version=version, headers=named)).http

        assert ours.json() == theirs.json(), (method, params)
        assert ours.status_code == theirs.status_code, (method, params)
        assert ours.headers["content-type"] == theirs.headers["content-type"], (method, params)


async def test_only_plain_requests_bypass_the_sdk(assistant: Assistant):
    headers = assistant.headers("ping", {}, HANDSHAKE, "") | {"Content-Type": "application/json"}
    headers.pop("MCP-Protocol-Version")
    ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}'
    for content, accept, status in (
        ('{"jsonrpc":"2.0","method":"notifications/initialized"}', "application/json", 202),
        ("[]", "application/json", 400),
        ("{", "application/json", 400),
        ('{"jsonrpc":"2.0","id":1,"result":{}}', "application/json", 202),
        (ping, "text/html", 406),
        (ping, "application/json", 200),
    ):
        answer = await assistant.http.post("/mcp", content=content, headers=headers | {"Accept": accept})

        assert answer.status_code == status, (content, accept)


async def test_headers_that_differ_from_the_body_are_rejected(assistant: Assistant):
    for header in ("Mcp-Method", "Mcp-Name", "MCP-Protocol-Version"):
        called = {"name": "list_programs", "arguments": {}}
        answer = await assistant.call("tools/call", called, headers={header: "2099-01-01"})

        assert answer.http.status_code == 400, header
        assert answer.error["code"] < -32000, header


async def test_nothing_is_subscribed_to_and_no_stream_stays_open(assistant: Assistant):
    answer = await assistant.call("subscriptions/listen", {"notifications": {"toolsListChanged": True}})

    assert (answer.http.status_code, answer.error["code"]) == (404, -32601)


async def handshake(assistant: Assistant, headers: list[tuple[str, str]], body: Any) -> Any:
    """Return what a request of the handshake era is answered with, by ours or by the app inside."""
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": json.dumps(body).encode(), "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    async def sdk(_scope: Scope, receive: Receive, send: Send) -> None:
        assert json.loads((await receive())["body"]) == body
        await send({"type": "http.response.body", "body": json.dumps(LEFT).encode()})

    caller = Caller(assistant.acme.store.reader, assistant.good, assistant.at, "request-1", resource="")
    raw = [(name.lower().encode(), value.encode()) for name, value in headers]
    scope = {"type": "http", "method": "POST", "headers": raw, SCOPE_MEMBER: caller}
    await HandshakeToolCalls(sdk, base_url="http://svc.test", hosts=["svc.test"])(scope, receive, send)
    return json.loads(sent[-1]["body"])


async def test_a_plain_tool_call_does_not_reach_the_sdk_and_any_other_does(assistant: Assistant):
    plain = list(HEADERS.items())

    answered = await handshake(assistant, plain, CALL)

    assert answered["result"]["structuredContent"]["data"]
    for name, value in TO_CHECK.items():
        others = [each for each in plain if each[0] != name.lower()]
        assert await handshake(assistant, [*others, (name, value)], CALL) == LEFT, (name, value)
    assert await handshake(assistant, [("host", "evil.example"), *plain], CALL) == LEFT  # sent twice
    for body in NOT_PLAIN:
        assert await handshake(assistant, plain, body) == LEFT, body
