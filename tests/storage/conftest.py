"""Fixtures of the storage tests: databases without a table, and storage whose books add up after every test."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

import storage
from storage import Storage
from storage.checks import books
from storage.management import partners
from tests.world import World


@pytest.fixture(params=["sqlite", "postgresql"])
def empty_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of a database without a table, once of each kind."""
    empty = f"sqlite+aiosqlite:///{tmp_path}/empty.db"
    url: str = empty if request.param == "sqlite" else request.getfixturevalue("empty_postgres_url")
    return url


@pytest.fixture
async def store(store: Storage, request: pytest.FixtureRequest) -> AsyncIterator[Storage]:
    """Open storage, and compare every total with the events when the test ends, unless it changes rows behind them."""
    yield store
    assert request.node.get_closest_marker("wrong_books") or await store.read(books.run) == []


@pytest.fixture
async def elsewhere(acme: World, database_url: str) -> AsyncIterator[World]:
    """Acme as a second process serves it."""
    async with storage.opened(database_url) as other:
        yield replace(acme, store=other)


@pytest.fixture
async def shop(acme: World) -> World:
    """Acme as a shop whose partner may buy there: Anna has an e-mail address."""
    await acme.do(partners.change, acme.anna, {"email": "Anna@Partners.example"})
    return acme
