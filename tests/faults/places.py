"""Where the service runs while a fault happens: which database, and what can be done to it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests import citus, postgres, proxy
from tests.postgres import Server
from tests.proxy import Proxy


@dataclass
class Place:
    """What surrounds the service; `url` is its way to the database, `direct_url` ours. Each place sets what it has."""

    url: str
    direct_url: str
    nodes: list[Server] = field(default_factory=list)
    proxy: Proxy = field(init=False)


@asynccontextmanager
async def sqlite(folder: Path) -> AsyncIterator[Place]:
    url = f"sqlite+aiosqlite:///{folder / 'svc.db'}"
    yield Place(url, url)


@asynccontextmanager
async def postgresql(_: Path) -> AsyncIterator[Place]:
    with postgres.running() as server:
        yield Place(server.url, server.url, nodes=[server])


@asynccontextmanager
async def distributed(_: Path) -> AsyncIterator[Place]:
    """A Citus cluster with a distributed database."""
    with citus.running() as cluster:
        url = await cluster.create_database("service")
        await citus.distribute(url)
        yield Place(url, url, nodes=[cluster.coordinator, *cluster.workers])


@asynccontextmanager
async def proxied_postgresql(folder: Path) -> AsyncIterator[Place]:
    """A PostgreSQL server that the service reaches through a proxy."""
    async with postgresql(folder) as place, proxy.before(place.url) as place.proxy:
        place.url = place.proxy.url
        yield place
