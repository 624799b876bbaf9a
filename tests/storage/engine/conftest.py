"""PostgreSQL behind a proxy that loses, delays and cuts what a test says."""

from collections.abc import AsyncIterator

import pytest

from tests import proxy
from tests.proxy import Proxy


@pytest.fixture
async def between(postgres_url: str) -> AsyncIterator[Proxy]:
    """A proxy between the storage and its database."""
    async with proxy.before(postgres_url) as running:
        yield running
