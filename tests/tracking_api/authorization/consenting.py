"""What connects: a client's host with its metadata document, and a member at a real browser who consents."""

import base64
import hashlib
import json
import ssl
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest
import trustme
from playwright.async_api import Page

from tests import failing
from tests.serving import PLAIN
from tests.tracking_api.dashboard.pages.conftest import OLGA, PASSWORD

CALLBACK = "https://assistant.example/callback"
VERIFIER = "v" * 64
CHALLENGE = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).decode().rstrip("=")


@dataclass
class ClientHost:
    """Serves documents under `base_url`; `authority` is the file that its certificate hangs from."""

    base_url: str
    authority: Path
    documents: dict[str, bytes] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    stalled: threading.Event = field(default_factory=threading.Event)

    def publish(self, path: str = "/client.json", **members: Any) -> str:
        """Publish a client's document and return its address, which is the client's id."""
        address = f"{self.base_url}{path}"
        document = {"client_id": address, "client_name": "Documented", "redirect_uris": ["http://127.0.0.1/callback"]}
        self.documents[path] = json.dumps(document | members).encode()
        return address


@pytest.fixture
def client_host(tmp_path: Path) -> Iterator[ClientHost]:
    """Where a client's document is: on localhost. `/moved` redirects, `/stall` never answers."""
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(tmp_path / "authority.pem"))

    class Handler(failing.QuietHandler):
        def do_GET(self) -> None:  # noqa: N802 - the name of the base class
            host.asked.append(self.path)
            if self.path == "/stall":
                host.stalled.wait(30)
            content = host.documents.get(self.path)
            status = 302 if self.path == "/moved" else 200 if content is not None else 404
            self.send(failing.Answer(status, content or b"", {"Location": "/client.json"}))

    server = failing.HttpServer(("127.0.0.1", 0), Handler)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost").configure_cert(tls)
    server.socket = tls.wrap_socket(server.socket, server_side=True)
    host = ClientHost(f"https://localhost:{server.server_port}", tmp_path / "authority.pem")
    with failing.serving(server):
        yield host
        host.stalled.set()


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


async def register(base_url: str, **metadata: object) -> str:
    named = {"client_name": "Helper", "redirect_uris": [CALLBACK], **metadata}
    async with httpx.AsyncClient(base_url=base_url, verify=PLAIN) as client:
        client_id: str = (await client.post("/register", json=named)).json()["client_id"]
    return client_id


async def ask(base_url: str, **metadata: object) -> Asked:
    client_id = await register(base_url, **metadata)
    async with httpx.AsyncClient(base_url=base_url, verify=PLAIN) as client:
        asked = {"response_type": "code", "client_id": client_id, "redirect_uri": CALLBACK, "state": "s"}
        answer = await client.get("/authorize", params={**asked, "code_challenge": CHALLENGE})
        return Asked(client_id, answer.headers["location"])


async def fetch_tokens(base_url: str, client_id: str, code: str) -> dict[str, str]:
    sent = {"grant_type": "authorization_code", "client_id": client_id, "redirect_uri": CALLBACK, "code": code}
    async with httpx.AsyncClient(base_url=base_url, verify=PLAIN) as client:
        given: dict[str, str] = (await client.post("/token", data={**sent, "code_verifier": VERIFIER})).json()
        return given
