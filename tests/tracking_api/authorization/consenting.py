"""A member at a real browser: whoever is sent there signs in, reads what is asked, and connects."""

import base64
import hashlib
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest
from playwright.async_api import Browser, Page

import storage
from storage.access import workspaces
from storage.access.workspaces import Role
from tests import world
from tests.serving import PLAIN, Serve
from tests.tracking_api.authorization.client_host import ClientHost, serving
from tests.tracking_api.dashboard.pages.conftest import HASH, OLGA, PASSWORD, Site

CALLBACK = "https://assistant.example/callback"
VERIFIER = "v" * 64
CHALLENGE = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).decode().rstrip("=")


@pytest.fixture
def client_host(tmp_path: Path) -> Iterator[ClientHost]:
    """Where a client's document is."""
    with serving(tmp_path) as host:
        yield host


@pytest.fixture
async def site(
    sqlite_url: str,
    serve: Serve,
    client_host: ClientHost,
    browser: Browser,
    monkeypatch: pytest.MonkeyPatch,
) -> AsyncIterator[Site]:
    """Acme, served where a client's own host may be on this machine, and Olga's browser."""
    async with storage.opened(sqlite_url) as store:
        acme = await world.acme(store)
        now = datetime.now(UTC)
        await store.write(
            workspaces.add_member, acme.workspace_id, email=OLGA, role=Role.OWNER, password_hash=HASH, at=now
        )
        monkeypatch.setenv("SSL_CERT_FILE", str(client_host.authority))
        server = serve(sqlite_url, SVC_PRIVATE_CLIENT_HOSTS="localhost")
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


class Asked(NamedTuple):
    """A client that asks for authorization, and where its member's browser is led."""

    client_id: str
    page: str


async def ask(base_url: str, **metadata: object) -> Asked:
    """Register a client and let it ask."""
    named = {"client_name": "Helper", "redirect_uris": [CALLBACK], **metadata}
    async with httpx.AsyncClient(base_url=base_url, verify=PLAIN) as client:
        client_id = (await client.post("/register", json=named)).json()["client_id"]
        asked = {"response_type": "code", "client_id": client_id, "redirect_uri": CALLBACK, "state": "s"}
        answer = await client.get("/authorize", params={**asked, "code_challenge": CHALLENGE})
        return Asked(client_id, answer.headers["location"])


async def fetch_tokens(base_url: str, client_id: str, code: str) -> dict[str, str]:
    """Let the client exchange its code."""
    sent = {"grant_type": "authorization_code", "client_id": client_id, "redirect_uri": CALLBACK, "code": code}
    async with httpx.AsyncClient(base_url=base_url, verify=PLAIN) as client:
        given: dict[str, str] = (await client.post("/token", data={**sent, "code_verifier": VERIFIER})).json()
        return given
