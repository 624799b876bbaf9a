"""The agent API over a fresh SQLite database: Acme's keys and Globex's; every answer must be documented."""

from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from typing import Any

import httpx
import pytest

import agent_api.app
from storage.access import agent_keys, sessions, workspaces
from storage.rules.scope import Scope
from tests import documented, world
from tests.world import NOW, World
from web.middleware import RequestMiddleware


@pytest.fixture
def database_url(sqlite_url: str) -> str:
    """The surface is the same on each database: storage's own tests run on both."""
    return sqlite_url


class Agents:
    """Clients of the agent API; `at` is the service's time, `good` a key of Acme's with every scope."""

    def __init__(self, acme: World, globex: World) -> None:
        self.acme = acme
        self.globex = globex
        self.at: datetime = NOW
        self.good = ""
        base_url = "http://svc.test"
        app = agent_api.app.create(acme.store, base_url=base_url, clock=lambda: self.at)
        self.client = httpx.AsyncClient(
            transport=httpx.ASGITransport(RequestMiddleware(app)),
            base_url=base_url,
            event_hooks={"response": [_check]},
        )

    async def issue(self, scopes: Sequence[Scope] = tuple(Scope), **options: Any) -> str:
        """Issue a key of Acme's and return its value."""
        options = {"name": "Reporter", "at": NOW, **options}
        workspace_id = options.pop("workspace_id", self.acme.workspace_id)
        issued = await self.acme.store.write(agent_keys.issue, workspace_id, scopes=scopes, **options)
        secret: str = issued.secret
        return secret

    async def revoked(self) -> str:
        """Issue a key and revoke it."""
        issued = await self.acme.store.write(
            agent_keys.issue, self.acme.workspace_id, name="Gone", scopes=tuple(Scope), at=NOW
        )
        await self.acme.store.write(agent_keys.revoke, issued.id, at=NOW)
        secret: str = issued.secret
        return secret

    async def session(self) -> str:
        """Sign Acme's owner in."""
        started = await self.acme.store.write(sessions.start, self.acme.owner_id, at=NOW)
        token: str = started.token
        return token

    async def call(self, method: str, path: str, key: str | None = "good", **options: Any) -> httpx.Response:
        """Call a path (one that starts with a dot lies under Acme's program) with a key, Acme's good one, or none."""
        headers = dict(options.pop("headers", {}))
        if key is not None:
            headers["Authorization"] = f"Bearer {self.good if key == 'good' else key}"
        program = f"/api/agent/v1/programs/{self.acme.program_id}"
        where = path.replace(".", program, 1) if path.startswith(".") else f"/api/agent/v1{path}"
        return await self.client.request(method, where, headers=headers, **options)

    async def get(self, path: str, **query: Any) -> httpx.Response:
        return await self.call("GET", path, params=query)


async def _check(answer: httpx.Response) -> None:
    await answer.aread()
    documented.check(answer)


@pytest.fixture
async def agents(acme: World) -> AsyncIterator[Agents]:
    """The agent API of Acme, beside another workspace with a program of its own."""
    other = await acme.store.write(
        workspaces.create, "Globex", owner_email="gina@globex.example", password_hash="not a hash", at=NOW
    )
    made = Agents(acme, await world.program_of(acme.store, other.workspace_id, other.user_id))
    made.good = await made.issue()
    async with made.client:
        yield made
