"""These tests run on SQLite, and on each database where one decides; of Acme's shop, Anna's e-mail address is known."""

import pytest
from sqlalchemy import update

from storage.tables import partners
from tests.storage.databases import database_url
from tests.storage.management.abuse import ANNA_EMAIL
from tests.world import World

__all__ = ["database_url", "shop"]


@pytest.fixture
async def shop(acme: World) -> World:
    """Acme, where Anna's e-mail address is known."""
    mine = update(partners).where(partners.c.id == acme.anna).values(email=ANNA_EMAIL)
    await acme.store.write(lambda connection: connection.execute(mine).rowcount)
    return acme
