"""The tests of this folder run on SQLite, and on each database where one decides: `both_databases`."""

import pytest
from sqlalchemy import update

from storage import tables
from tests.storage.databases import database_url
from tests.world import World

__all__ = ["database_url"]


@pytest.fixture
async def shop(acme: World) -> World:
    """Acme, where Anna has an e-mail address."""
    mine = update(tables.partners).where(tables.partners.c.id == acme.anna).values(email="Anna@Partners.example")
    await acme.store.write(lambda connection: connection.execute(mine).rowcount)
    return acme
