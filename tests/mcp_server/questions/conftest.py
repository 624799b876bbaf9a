"""The demo's workspace, and an assistant with nothing but /mcp that is asked about it."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

import mcp_server.app
import storage
from cli.demo.sample import Sample
from configuration import Configuration
from tests.mcp_server.conftest import BASE
from tests.mcp_server.questions.interview import Interview, build
from tests.world import NOW
from web.middleware import RequestMiddleware


@pytest.fixture(scope="session")
def world(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Sample]:
    """The demo's workspace in a database of its own, with a dispute that was lost and a refund that waits."""
    path = tmp_path_factory.mktemp("questions") / "svc.db"
    path.write_bytes(sqlite_template.read_bytes())
    url = f"sqlite+aiosqlite:///{path}"
    return url, asyncio.run(build(url))


@pytest.fixture
async def asked(world: tuple[str, Sample]) -> AsyncIterator[Interview]:
    """An assistant with nothing but /mcp."""
    url, made = world
    database = sqlite3.connect(url.partition(":///")[2])
    settings = Configuration(base_url=BASE, rate_limit=False)
    async with storage.opened(url) as store, mcp_server.app.serving(store.reader, settings, clock=lambda: NOW) as app:
        transport = httpx.ASGITransport(RequestMiddleware(app))
        async with httpx.AsyncClient(transport=transport, base_url=BASE) as http:
            yield Interview(http, made, database)
    database.close()
