"""Fixtures of the storage tests: databases without a table."""

from pathlib import Path

import pytest


@pytest.fixture(params=["sqlite", "postgresql"])
def empty_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of a database without a table, once of each kind."""
    empty = f"sqlite+aiosqlite:///{tmp_path}/empty.db"
    url: str = empty if request.param == "sqlite" else request.getfixturevalue("empty_postgres_url")
    return url
