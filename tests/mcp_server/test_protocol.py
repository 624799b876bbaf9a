"""The protocol in each version: what is answered here is what the SDK's own transports answer."""

from typing import Any

import pytest

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


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(("method", "params"), REQUESTS)
async def test_a_response_is_the_same_as_the_sdks_transport_gives(
    assistant: Assistant, version: str, method: str, params: dict[str, Any]
):
    ours = await assistant.call(method, params, version=version)
    assistant.http.headers["Origin"] = "http://localhost:6274"  # a request that names one is left to the SDK
    theirs = await assistant.call(method, params, version=version)

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
async def test_only_plain_requests_bypass_the_sdk(assistant: Assistant, content: str, accept: str, status: int):
    headers = assistant.headers("ping", {}, HANDSHAKE, "") | {"Accept": accept, "Content-Type": "application/json"}
    headers.pop("MCP-Protocol-Version")

    answer = await assistant.http.post("/mcp", content=content, headers=headers)

    assert answer.status_code == status


@pytest.mark.parametrize("header", ["Mcp-Method", "Mcp-Name", "MCP-Protocol-Version"])
async def test_headers_that_differ_from_the_body_are_rejected(assistant: Assistant, header: str):
    headers = assistant.headers("tools/call", {"name": "list_programs"}, MODERN, "") | {header: "2099-01-01"}
    meta = {"io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {}}
    params = {"name": "list_programs", "arguments": {}, "_meta": meta}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}

    answer = await assistant.http.post("/mcp", json=body, headers=headers)

    assert answer.status_code == 400
    assert answer.json()["error"]["code"] < -32000


async def test_nothing_is_subscribed_to_and_no_stream_stays_open(assistant: Assistant):
    answer = await assistant.call("subscriptions/listen", {"notifications": {"toolsListChanged": True}})

    assert (answer.http.status_code, answer.error["code"]) == (404, -32601)
