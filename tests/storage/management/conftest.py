"""Acme as a shop whose partner may buy there."""

import pytest

from storage.management import partners
from tests.world import World


@pytest.fixture
async def shop(acme: World) -> World:
    """Acme, where Anna has an e-mail address."""
    await acme.do(partners.change, acme.anna, {"email": "Anna@Partners.example"})
    return acme
