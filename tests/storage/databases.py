"""The databases that the tests of reading and managing run on: SQLite, and each where the database decides."""

import pytest

from tests.conftest import KINDS

both_databases = pytest.mark.parametrize("database_url", KINDS, indirect=True)


@pytest.fixture
def database_url(request: pytest.FixtureRequest) -> str:
    """The URL of a fresh, migrated SQLite database, or of each kind in a test of `both_databases`."""
    url: str = request.getfixturevalue(KINDS[request.param] if hasattr(request, "param") else "sqlite_url")
    return url
