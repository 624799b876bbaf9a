"""The whole service in this process, a client that registered itself, and Olga's browser, each step by hand."""

import re
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from functools import partial
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from storage.access.workspaces import Role
from tests import world
from tests.serving import Serve, in_the_loop
from tests.tracking_api.authorization.consenting import CALLBACK, CHALLENGE, VERIFIER, ClientHost, client_host
from tests.tracking_api.dashboard.pages.conftest import HASH, OLGA, site

__all__ = ["client_host", "site"]  # fixtures that several modules share
BASE = "http://127.0.0.1:8000"
TOOL = {"name": "list_programs", "arguments": {}}
READ_PROGRAMS = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": TOOL}


class Flow:
    """Each step of connecting an assistant, with what it sends replaced at will."""

    def __init__(self, acme: world.World, olga: str, client: httpx.AsyncClient) -> None:
        self.acme = acme
        self.olga = olga
        self.http = client
        self.client_id = ""

    async def register(self, **metadata: Any) -> httpx.Response:
        """Register a client; its id is the one that the other steps send."""
        asked = {"client_name": "Helper", "redirect_uris": [CALLBACK], **metadata}
        answer = await self.http.post("/register", json=asked)
        self.client_id = answer.json().get("client_id", self.client_id)
        return answer

    async def authorize(self, **parameters: str | None) -> httpx.Response:
        asked = {
            "response_type": "code",
            "client_id": self.client_id,
            "redirect_uri": CALLBACK,
            "code_challenge": CHALLENGE,
            "code_challenge_method": "S256",
            "state": "the state",
            "resource": f"{BASE}/mcp",
            **parameters,
        }
        return await self.http.get("/authorize", params={k: v for k, v in asked.items() if v is not None})

    async def consent(
        self, page: str, *, decision: str = "allow", headers: dict[str, str] | None = None, **fields: Any
    ) -> httpx.Response:
        """Send the consent page's form, as Olga's browser does."""
        own = {"Cookie": f"svc_session={self.olga}"}
        shown = await self.http.get(page, headers=own)
        token = re.search(r'name="csrf" value="(\w+)"', shown.text)
        form = {"csrf": token[1] if token else "", "program": str(self.acme.program_id), "decision": decision, **fields}
        return await self.http.post(page, data=form, headers=own | {"Sec-Fetch-Site": "same-origin"} | (headers or {}))

    async def code(self, **parameters: str | None) -> str:
        asked = await self.authorize(**parameters)
        return sent(await self.consent(asked.headers["location"]))["code"]

    async def token(self, **fields: str | None) -> httpx.Response:
        asked = {
            "grant_type": "authorization_code",
            "client_id": self.client_id,
            "redirect_uri": CALLBACK,
            "code_verifier": VERIFIER,
            "resource": f"{BASE}/mcp",
            **fields,
        }
        return await self.http.post("/token", data={k: v for k, v in asked.items() if v is not None})

    async def refresh(self, token: str, **fields: str | None) -> httpx.Response:
        return await self.token(grant_type="refresh_token", refresh_token=token, redirect_uri=None, **fields)

    async def tokens(self, **parameters: str | None) -> dict[str, Any]:
        answer = await self.token(code=await self.code(**parameters))
        assert answer.status_code == 200, answer.text
        given: dict[str, Any] = answer.json()
        return given

    async def call(self, token: str | None, **headers: str) -> httpx.Response:
        accepted = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-11-25", **headers}
        bearer = {} if token is None else {"Authorization": f"Bearer {token}"}
        return await self.http.post("/mcp", json=READ_PROGRAMS, headers=accepted | bearer)


def sent(answer: httpx.Response) -> dict[str, str]:
    assert answer.headers["location"].startswith(CALLBACK), answer.headers["location"]
    return {name: values[0] for name, values in parse_qs(urlsplit(answer.headers["location"]).query).items()}


@pytest.fixture
def trusted_host(client_host: ClientHost, monkeypatch: pytest.MonkeyPatch) -> ClientHost:
    """Where a client's document is, with the authority behind its certificate trusted in this process."""
    monkeypatch.setenv("SSL_CERT_FILE", str(client_host.authority))
    return client_host


@pytest.fixture
def serve(serve: Serve, trusted_host: ClientHost) -> Serve:
    """Serve where a client's own host may be on this machine."""
    assert trusted_host.asked == []
    return partial(serve, SVC_PRIVATE_CLIENT_HOSTS="localhost")


@pytest.fixture
async def unregistered(sqlite_url: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Flow]:
    """Acme and Olga, who owns it; no client yet."""
    monkeypatch.chdir(tmp_path)  # where the key is made that seals what goes through the browser
    async with in_the_loop(BASE, database_url=sqlite_url, base_url=BASE, rate_limit=False) as (client, store):
        acme = await world.acme(store)
        olga = await acme.sign_in(await acme.join(OLGA, Role.OWNER, password_hash=HASH), datetime.now(UTC))
        yield Flow(acme, olga, client)


@pytest.fixture
async def flow(unregistered: Flow) -> Flow:
    """The same, with a client that registered itself."""
    await unregistered.register()
    return unregistered
