"""Every operation of the route tables, called over one scene: each response is documented, and none is a 500."""

import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import httpx

import agent_api.app
import storage
import tracking_api.app
from configuration import Configuration
from presentation.operations import Description, described
from storage.access import sessions
from storage.rules.errors import OwnerRequired
from storage.rules.scope import Scope
from tests import documented
from tests.security import matrix
from tests.security.matrix import MISSING, Scene
from tests.world import NOW
from web.middleware import RequestMiddleware

ORIGIN = {"Origin": "https://acme.example"}  # hand-overs belong to the program's own pages


class Entry(NamedTuple):
    """An operation of the route tables."""

    method: str
    path: str
    described: Description

    @property
    def kind(self) -> str:
        """The credential that it needs; empty if it needs none."""
        needed = self.described.security
        return "" if not needed or any(not each for each in needed) else next(iter(needed[0]))

    @property
    def needs_owner(self) -> bool:
        return OwnerRequired in self.described.errors

    @property
    def scope(self) -> Scope | None:
        """The scope that it needs; of a decision about a commission the one that most decisions need."""
        return next((Scope(scope) for scope in self.described.security[0]["agentKey"]), None)

    @property
    def row(self) -> str:
        """The path parameter that names a row of a program or a workspace; empty if there is none."""
        name = self.parameters[-1] if self.parameters else ""
        return "" if name in {"program_id", "workspace_id"} else name

    @property
    def parameters(self) -> list[str]:
        return re.findall(r"\{(\w+)", self.path)

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


ENTRIES = [
    Entry(method, path, description)
    for path, method, description in described([*tracking_api.app.ROUTES, *agent_api.app.ROUTES])
]


def needing(kind: str) -> list[Entry]:
    """Return the operations that need a credential of this kind."""
    return [entry for entry in ENTRIES if entry.kind == kind]


class Service:
    """The whole service over one scene."""

    def __init__(self, client: httpx.AsyncClient, scene: Scene) -> None:
        self.client = client
        self.scene = scene

    async def call(
        self, entry: Entry, credential: str | None, *, body: Any = None, query: Any = None, **ids: Any
    ) -> httpx.Response:
        """Send a body, an empty one by default, to an operation on Acme's rows, or on others."""
        content = {"json": body or {}} if entry.method not in {"GET", "DELETE"} else {}
        return await self.send(entry, credential, ids, params=query, **content)

    async def send(
        self, entry: Entry, credential: str | None, ids: Mapping[str, Any], **options: Any
    ) -> httpx.Response:
        """Send anything to an operation on Acme's rows, or on others."""
        known = {**dict.fromkeys(entry.parameters, MISSING), **self.scene.ids, **ids}
        headers = options.pop("headers", {})
        if credential is not None:
            headers = {b"Authorization": f"Bearer {credential}".encode(), **headers}
        path = entry.path.format_map(known)
        response = await self.client.request(entry.method, path, headers=headers, **options)
        assert response.status_code < 500, f"{entry}: {response.text}"
        documented.check(response)
        return response

    async def credential(self, kind: str) -> str | None:
        """Return a good credential of Acme's; an owner's session is a fresh one, which an operation may end."""
        if kind == "session":
            return str((await self.scene.acme.store.write(sessions.start, self.scene.acme.owner_id, at=NOW)).token)
        if kind == "agentKey":
            return str((await self.scene.agent_key()).secret)
        return self.scene.acme.key if kind == "programKey" else None


@asynccontextmanager
async def serving(database_url: str) -> AsyncIterator[Service]:
    """Serve the scene from a database."""
    async with storage.opened(database_url) as store:
        scene = await matrix.prepare(store)
        settings = Configuration(database_url=database_url, rate_limit=False, secret_key="a secret key")
        agents = agent_api.app.create(store, base_url=settings.base_url, clock=lambda: NOW)
        tracking = tracking_api.app.create(store, settings, clock=lambda: NOW)

        async def both(scope: Any, receive: Any, send: Any) -> None:
            await (agents if scope["path"].startswith("/api/agent/") else tracking)(scope, receive, send)

        transport = httpx.ASGITransport(RequestMiddleware(both))
        async with httpx.AsyncClient(transport=transport, base_url="http://svc.test") as client:
            yield Service(client, scene)


def code(response: httpx.Response) -> str:
    """Return the code of an error; empty if it is none."""
    body = response.json() if response.content and "json" in response.headers["content-type"] else {}
    return str(body.get("error", {}).get("code", ""))
