"""The MCP app: its two addresses, the hosts it answers to, and its life inside the one lifespan."""

import logging
import re

import httpx
import pytest

import asgi
from configuration import Configuration
from mcp_server.app import trusted
from presentation import guides
from tests.mcp_server.conftest import BASE, HANDSHAKE, VERSIONS, Assistant
from web.middleware import RequestMiddleware

pytestmark = pytest.mark.anyio
HOSTS = {
    "svc.test": 200,
    "svc.test:80": 200,
    "localhost": 200,
    "localhost:1234": 200,
    "127.0.0.1:9": 200,
    "[::1]:9": 200,
    "evil.example": 421,
    "svc.test.evil.example": 421,
    "localhost.evil.example:80": 421,
}


async def test_llms_txt_maps_every_guide_and_interface_and_is_only_read(assistant: Assistant):
    answer = await assistant.http.get("/llms.txt")

    links = re.findall(rf"\({BASE}/docs/([\w-]+)\)", answer.text)
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert sorted(links) == sorted(guides.NAMES)
    assert all(f"{BASE}{path}" in answer.text for path in ("/openapi.json", "/mcp", "/api/agent/v1"))
    assert (await assistant.http.post("/llms.txt")).status_code == 405
    assert (await assistant.http.get("/llms.txt/")).json()["error"]["code"] == "not_found"


@pytest.mark.parametrize("version", VERSIONS)
async def test_host_and_origin_must_be_those_of_the_service_or_of_this_machine(assistant: Assistant, version: str):
    origins = {"http://evil.example": 403, "http://localhost:6274": 200}

    async def status(**header: str) -> int:
        return (await assistant.call("tools/list", version=version, headers=header)).http.status_code

    assert {host: await status(Host=host) for host in HOSTS} == HOSTS
    assert {origin: await status(Origin=origin) for origin in origins} == origins


async def test_the_ip_address_of_the_socket_is_accepted_as_host(unserved: Assistant):
    async with unserved.serving(base_url="https://track.example"):
        unserved.http.base_url = httpx.URL("http://10.1.2.3:8000")
        served = await unserved.call("tools/list", version=HANDSHAKE)
        rebound = await unserved.call("tools/list", version=HANDSHAKE, headers={"Host": "rebound.example:8000"})

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
            others = [await client.get(path) for path in ("/llms.txt", "/mcp/else")]
            metadata = await client.get("/.well-known/oauth-protected-resource/mcp")

    assert [answer.status_code for answer in (unkeyed, *others)] == [401, 200, 404]
    assert metadata.status_code == 404  # there is no authorization server: some clients would drop their header for it
    assert (logging.getLogger().level, list(logging.getLogger().handlers)) == before
