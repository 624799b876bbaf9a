"""The tracking calls and the whole service over SQLite; what the database decides says that it runs on each kind."""

from collections.abc import AsyncIterator

import pytest

from tests.security import operations
from tests.tracking_api.conftest import api
from tests.tracking_api.dashboard.conftest import dashboard

__all__ = ["api", "dashboard"]


@pytest.fixture
async def service(database_url: str) -> AsyncIterator[operations.Service]:
    """The whole service over the scene of the matrix."""
    async with operations.serving(database_url) as served:
        yield served
