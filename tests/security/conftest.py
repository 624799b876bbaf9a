"""The tracking calls and the whole service over SQLite; what the database decides says that it runs on each kind."""

from collections.abc import AsyncIterator

import pytest

from tests.conftest import KINDS
from tests.security import operations
from tests.security.operations import Service
from tests.tracking_api.conftest import api

__all__ = ["api"]
on_each_database = pytest.mark.parametrize("database_url", KINDS, indirect=True)


@pytest.fixture
def database_url(request: pytest.FixtureRequest) -> str:
    """The URL of a fresh, migrated SQLite database; once of each kind for a test that is marked so."""
    url: str = request.getfixturevalue(KINDS.get(getattr(request, "param", ""), "sqlite_url"))
    return url


@pytest.fixture
async def service(database_url: str) -> AsyncIterator[Service]:
    """The whole service over the scene of the matrix."""
    async with operations.serving(database_url) as served:
        yield served
