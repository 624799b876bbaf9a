"""The MCP app: its two addresses, the hosts it answers to, and its life inside the one lifespan."""

import logging
import re

import httpx
import pytest

import asgi
from configuration import Configuration
from mcp_server.app import trusted
from presentation import guides
from tests.mcp_server.conftest import BASE, HANDSHAKE, MODERN, VERSIONS, Assistant
from web.middleware import RequestMiddleware

pytestmark = pytest.mark.anyio


async def test_llms_txt_maps_every_guide_and_interface(assistant: Assistant):
    answer = await assistant.http.get("/llms.txt")

    links = re.findall(rf"\({BASE}/docs/([\w-]+)\)", answer.text)
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert sorted(links) == sorted(guides.NAMES)
    assert all(f"{BASE}{path}" in answer.text for path in ("/openapi.json", "/mcp", "/api/agent/v1"))


async def test_llms_txt_is_for_reading_and_nothing_else_is_there(assistant: Assistant):
    assert (await assistant.http.post("/llms.txt")).status_code == 405
    assert (await assistant.http.get("/llms.txt/")).json()["error"]["code"] == "not_found"


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("svc.test", 200),
        ("svc.test:80", 200),
        ("localhost", 200),
        ("localhost:1234", 200),
        ("127.0.0.1:9", 200),
        ("[::1]:9", 200),
        ("evil.example", 421),
        ("svc.test.evil.example", 421),
        ("localhost.evil.example:80", 421),
    ],
)
async def test_a_host_must_be_that_of_the_service(assistant: Assistant, version: str, host: str, status: int):
    headers = assistant.headers("tools/list", {}, version, "") | {"Host": host}
    meta = {"io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta} if version == MODERN else {}}

    answer = await assistant.http.post("/mcp", json=body, headers=headers)

    assert answer.status_code == status


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_page_of_another_origin_is_rejected(assistant: Assistant, version: str):
    assistant.http.headers["Origin"] = "http://evil.example"
    foreign = await assistant.call("tools/list", version=version)
    assistant.http.headers["Origin"] = "http://localhost:6274"
    local = await assistant.call("tools/list", version=version)

    assert (foreign.http.status_code, local.http.status_code) == (403, 200)


async def test_the_ip_address_of_the_socket_is_accepted_as_host(unserved: Assistant):
    async with unserved.serving(base_url="https://track.example"):
        unserved.http.base_url = httpx.URL("http://10.1.2.3:8000")
        served = await unserved.call("tools/list", version=HANDSHAKE)
        unserved.http.headers["Host"] = "rebound.example:8000"
        rebound = await unserved.call("tools/list", version=HANDSHAKE)

    assert (served.http.status_code, rebound.http.status_code) == (200, 421)


def test_a_base_url_is_trusted_with_and_without_its_port():
    hosts = trusted("https://track.example").allowed_hosts

    assert {"track.example", "track.example:443", "localhost:*"} <= set(hosts)
    assert "https://track.example" in trusted("https://track.example").allowed_origins


async def test_the_whole_service_serves_it_and_logging_stays_as_it_was(sqlite_url: str):
    before = (logging.getLogger().level, list(logging.getLogger().handlers))
    service = asgi.Service(Configuration(database_url=sqlite_url, base_url=BASE))
    async with service.opened():
        transport = httpx.ASGITransport(RequestMiddleware(service))
        async with httpx.AsyncClient(transport=transport, base_url=BASE) as client:
            unkeyed = await client.post("/mcp", json={})
            mapped = await client.get("/llms.txt")
            unknown = await client.get("/mcp/else")
            metadata = await client.get("/.well-known/oauth-protected-resource/mcp")

    assert (unkeyed.status_code, mapped.status_code, unknown.status_code) == (401, 200, 404)
    assert metadata.status_code == 404  # there is no authorization server: some clients would drop their header for it
    assert (logging.getLogger().level, list(logging.getLogger().handlers)) == before
