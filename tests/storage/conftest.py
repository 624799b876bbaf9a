"""Fixtures of the storage tests: databases without a table, and storage whose books add up after every test."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from storage import Storage
from storage.checks import books


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
