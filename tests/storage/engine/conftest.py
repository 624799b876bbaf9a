"""What the tests of the engine share: PostgreSQL behind a proxy, and a write and a read of names of workspaces."""

from collections.abc import AsyncIterator

import pytest
from sqlalchemy import Connection, insert, select

from storage import Storage
from storage.tables import workspaces
from tests import proxy
from tests.proxy import Proxy
from tests.world import NOW


@pytest.fixture
async def between(postgres_url: str) -> AsyncIterator[Proxy]:
    """A proxy between the storage and its database; it loses, delays and cuts what a test says."""
    async with proxy.before(postgres_url) as running:
        yield running


def add(connection: Connection, name: str) -> str:
    connection.execute(insert(workspaces).values(name=name, created_at=NOW))
    return name


async def names(store: Storage) -> list[str]:
    ordered = select(workspaces.c.name).order_by(workspaces.c.name)
    return await store.read(lambda connection: list(connection.execute(ordered).scalars()))
