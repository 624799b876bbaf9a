"""Clients that open with `initialize`: served as the SDK's own transport serves them, without its streams."""

import json
from typing import Any

import pytest
from mcp.server.transport_security import TransportSecurityMiddleware
from starlette.requests import Request

from mcp_server import handshake, server
from mcp_server.app import trusted
from tests.mcp_server.conftest import BASE, HANDSHAKE, Assistant

pytestmark = pytest.mark.anyio
HELLO = {"protocolVersion": HANDSHAKE, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
REQUESTS: list[tuple[str, dict[str, Any]]] = [
    ("initialize", HELLO),
    ("ping", {}),
    ("tools/list", {}),
    ("tools/call", {"name": "list_programs", "arguments": {}}),
    ("tools/call", {"name": "nothing"}),
    ("tools/call", {}),
    ("prompts/get", {"name": "nothing"}),
    ("resources/read", {"uri": "guide://metrics"}),
    ("logging/setLevel", {"level": "info"}),
    ("server/discover", {}),
    ("no/such/method", {}),
]


@pytest.mark.parametrize(("method", "params"), REQUESTS)
async def test_an_answer_is_the_one_that_the_sdks_transport_gives(
    assistant: Assistant, monkeypatch: pytest.MonkeyPatch, method: str, params: dict[str, Any]
):
    async def left_to_the_sdk(*_: Any) -> None:
        return None

    ours = await assistant.call(method, params, version=HANDSHAKE)
    monkeypatch.setattr(handshake, "answer", left_to_the_sdk)
    theirs = await assistant.call(method, params, version=HANDSHAKE)

    assert ours.http.json() == theirs.http.json()
    assert ours.http.status_code == theirs.http.status_code
    assert ours.http.headers["content-type"] == theirs.http.headers["content-type"]


@pytest.mark.parametrize(
    ("content", "accept", "status"),
    [
        ('{"jsonrpc":"2.0","method":"notifications/initialized"}', "application/json", 202),
        ("[]", "application/json", 400),
        ("{", "application/json", 400),
        ('{"jsonrpc":"2.0","id":1,"result":{}}', "application/json", 202),
        ('{"jsonrpc":"2.0","id":1,"method":"ping"}', "text/html", 406),
        ('{"jsonrpc":"2.0","id":1,"method":"ping"}', "application/json", 200),
    ],
)
async def test_what_is_no_plain_request_is_the_sdks(assistant: Assistant, content: str, accept: str, status: int):
    headers = assistant.headers("ping", {}, HANDSHAKE, "") | {"Accept": accept, "Content-Type": "application/json"}
    headers.pop("MCP-Protocol-Version")

    answer = await assistant.http.post("/mcp", content=content, headers=headers)

    assert answer.status_code == status


async def test_a_client_of_the_newest_protocol_is_not_served_here():
    scope = {"type": "http", "headers": [(b"mcp-protocol-version", b"2026-07-28"), (b"accept", b"*/*")]}
    content = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}).encode()
    checks = TransportSecurityMiddleware(trusted(BASE))

    assert await handshake.answer(server.create(BASE), checks, Request(scope), content) is None
