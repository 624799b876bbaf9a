"""A member at a real browser: whoever is sent there signs in, reads what is asked, and connects."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import anyio.to_thread
import pytest
from playwright.async_api import Page

import storage
from storage import workspaces
from storage.workspaces import Role
from tests import chromium, world
from tests.authorization_server.client_host import ClientHost, serving
from tests.conftest import LiveServer
from tests.pages.conftest import HASH, OLGA, PASSWORD, Site


@pytest.fixture
def client_host(tmp_path: Path) -> Iterator[ClientHost]:
    """Where a client's document is."""
    with serving(tmp_path) as host:
        yield host


@pytest.fixture
async def site(sqlite_url: str, live_server: Callable[..., LiveServer], client_host: ClientHost) -> AsyncIterator[Site]:
    """Acme, served where a client's own host may be on this machine, and Olga's browser."""
    async with storage.opened(sqlite_url) as store:
        acme = await world.acme(store)
        now = datetime.now(UTC)
        await store.write(
            workspaces.add_member, acme.workspace_id, email=OLGA, role=Role.OWNER, password_hash=HASH, at=now
        )
        async with served(acme, sqlite_url, live_server, client_host) as made:
            yield made


@asynccontextmanager
async def served(
    acme: world.World, sqlite_url: str, live_server: Callable[..., LiveServer], host: ClientHost
) -> AsyncIterator[Site]:
    """Serve it and open a browser; what its console complained about fails the test."""
    trusted = {"SSL_CERT_FILE": str(host.authority), "SVC_PRIVATE_CLIENT_HOSTS": "localhost"}
    server = await anyio.to_thread.run_sync(lambda: live_server(sqlite_url, **trusted))
    async with chromium.launched() as browser:
        made = Site(acme, server, browser, [])
        yield made
        assert made.said == []


async def consent(page: Page, address: str) -> str:
    """Open what the client asked to open, sign in where that is wanted, connect; return what the page said."""
    await page.goto(address)
    if await page.get_by_label("Password").is_visible():
        await page.get_by_label("E-mail address").fill(OLGA)
        await page.get_by_label("Password").fill(PASSWORD)
        await page.get_by_role("button", name="Sign in").click()
    await page.get_by_role("heading", name="Connect").wait_for()
    shown = await page.locator("main").inner_text()
    await page.get_by_role("button", name="Connect").click()
    return shown
