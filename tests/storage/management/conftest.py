"""Acme as a shop whose partner may buy there."""

import pytest
from sqlalchemy import update

from storage import tables
from tests.world import World


@pytest.fixture
async def shop(acme: World) -> World:
    """Acme, where Anna has an e-mail address."""
    mine = update(tables.partners).where(tables.partners.c.id == acme.anna).values(email="Anna@Partners.example")
    await acme.store.write(lambda connection: connection.execute(mine).rowcount)
    return acme
