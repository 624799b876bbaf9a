"""The official client and the conformance suite sign in: both eras, both registrations, consent given in Chromium."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from mcp.client import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from playwright.async_api import Page, Route
from pydantic import AnyUrl

from mcp_server.tools import ALL
from tests import postgres
from tests.mcp_server.conftest import CLIENTS
from tests.mcp_server.test_clients import MODULES, node
from tests.tracking_api.authorization.consenting import ClientHost, consent, register
from tests.tracking_api.dashboard.pages.conftest import Site

__all__ = ["node"]  # the fixture
CALLBACK = "http://127.0.0.1:9/callback"  # nothing listens there: the test reads where the browser was sent
REGISTRATIONS = ["registers itself", "has a document"]


class Kept:
    """Where the client keeps what it was given."""

    tokens: OAuthToken | None = None
    client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


class Assistant:
    """An assistant that knows an address, with a member at a browser beside it; `shown` is what they were asked."""

    def __init__(self, site: Site, page: Page, *, document: str | None) -> None:
        self.kept = Kept()
        self.shown: list[str] = []
        self._page = page
        self._answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self.url = f"{site.server.base_url}/mcp"
        metadata = OAuthClientMetadata(client_name="Helper", redirect_uris=[AnyUrl(CALLBACK)])
        self.auth = OAuthClientProvider(
            self.url, metadata, self.kept, self._consent, self._called_back, client_metadata_url=document
        )

    @asynccontextmanager
    async def connected(self, mode: str) -> AsyncIterator[Client]:
        """Connect by a version of the protocol."""
        async with (
            httpx2.AsyncClient(auth=self.auth, timeout=30) as http,
            Client(streamable_http_client(self.url, http_client=http), mode=mode) as client,
        ):
            yield client

    async def _consent(self, address: str) -> None:
        self._answer = asyncio.get_running_loop().create_future()
        await self._page.route("http://127.0.0.1:9/**", self._catch)  # the browser asks for an icon, too
        self.shown.append(await consent(self._page, address))
        await asyncio.wait_for(self._answer, 15)

    async def _catch(self, route: Route) -> None:
        if route.request.url.startswith(CALLBACK):
            self._answer.set_result(route.request.url)
        await route.fulfill(status=200, body="Go back to your assistant.")

    async def _called_back(self) -> AuthorizationCodeResult:
        sent = {name: values[0] for name, values in parse_qs(urlsplit(await self._answer).query).items()}
        return AuthorizationCodeResult(**sent)


@pytest.mark.parametrize(("mode", "registration"), [*zip(CLIENTS, REGISTRATIONS, strict=True)])
async def test_a_client_connects_by_its_url(site: Site, client_host: ClientHost, mode: str, registration: str) -> None:
    document = client_host.publish(client_name="Documented helper") if registration == "has a document" else None
    assistant = Assistant(site, await site.visit(), document=document)

    async with assistant.connected(mode) as client:
        programs = await client.call_tool("list_programs")
        tools = await client.list_tools()

    assert [each["id"] for each in programs.structured_content["data"]] == [site.acme.program_id]
    assert {tool.name for tool in tools.tools} == {tool.name for tool in ALL}
    (shown,) = assistant.shown
    assert ("Documented helper" if document else "Helper") in shown
    assert ("Published by\nlocalhost" if document else "Name\nHelper") in shown
    assert assistant.kept.client is not None
    assert assistant.kept.client.client_secret is None
    assert (assistant.kept.client.client_id == document) is (document is not None)


async def test_the_conformance_suite_gets_a_grant_and_sound_metadata(node: Path, site: Site, tmp_path: Path) -> None:
    base_url, port = site.server.base_url, postgres.free_port()
    client_id = await register(base_url, redirect_uris=[f"http://127.0.0.1:{port}/callback"])
    suite = MODULES / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
    about = ["--url", base_url, "--client-id", client_id, "--resource", f"{base_url}/mcp", "--port", str(port)]
    page, said = await site.visit(), ""

    process = await asyncio.create_subprocess_exec(
        node, suite, "authorization", *about, cwd=tmp_path, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    async with asyncio.timeout(60):
        async for line in process.stdout:
            said += line.decode()
            if line.startswith(f"{base_url}/authorize?".encode()):
                await consent(page, line.decode().strip())
        ended = await process.wait()
    await page.close()
    site.said.clear()  # what the suite's own page lacks, an icon for one, is not ours

    passed = set(re.findall(r"^✓ ([\w-]+):", re.sub(r"\x1b\[[0-9;]*m", "", said), re.MULTILINE))
    assert ended == 0, said
    assert passed == {"authorization-server-metadata-endpoint", "authorization-code-grant"}, said
