"""The agent API over a fresh SQLite database: Acme's keys; every answer must be documented."""

from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from typing import Any

import httpx
import pytest

import agent_api.app
from storage.engine.sealing import Sealer
from storage.rules.scope import Scope
from tests import documented
from tests.world import NOW, World


class Agents:
    """Clients of the agent API; `at` is the service's time, `good` a key of Acme's with every scope."""

    def __init__(self, acme: World) -> None:
        self.acme = acme
        self.at: datetime = NOW
        self.good = ""
        about: Any = {"base_url": "http://svc.test", "sealer": lambda: Sealer("a secret key")}
        self.app = agent_api.app.create(acme.store, clock=lambda: self.at, **about)
        self.transport = documented.transport_to(self.app)
        self.client = documented.client(self.transport)

    async def issue(self, scopes: Sequence[Scope] = tuple(Scope), **options: Any) -> str:
        return str((await self.acme.issue(*scopes, **options)).secret)

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


@pytest.fixture
async def agents(acme: World) -> AsyncIterator[Agents]:
    made = Agents(acme)
    made.good = await made.issue()
    async with made.client:
        yield made
