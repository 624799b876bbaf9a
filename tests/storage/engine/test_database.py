"""The tripwires of what the storage layer relies on in its drivers."""

import sqlite3
import threading
from pathlib import Path

import aiosqlite
import pytest
from sqlalchemy import Connection, text

import storage
from storage.engine import database
from storage.migrations import is_current
from storage.rules.errors import StorageUnavailable


async def test_aiosqlite_still_runs_a_function_on_its_thread(tmp_path: Path):
    async with aiosqlite.connect(tmp_path / "a.db") as connection:
        assert await connection._execute(lambda: 41 + 1) == 42  # type: ignore[no-untyped-call]  # noqa: SLF001 - the tripwire
        assert isinstance(connection._conn, sqlite3.Connection)  # noqa: SLF001 - the tripwire


async def test_an_acknowledged_event_survives_power_loss(sqlite_url: str):
    def pragmas(connection: Connection) -> list[object]:
        return [
            connection.execute(text(f"PRAGMA {name}")).scalar()
            for name in ("journal_mode", "synchronous", "foreign_keys")
        ]

    async with storage.opened(sqlite_url) as store:
        assert await store.write(pragmas) == ["wal", 2, 1]


@pytest.mark.parametrize(
    "url", ["mysql://a/b", "sqlite+aiosqlite://", "sqlite+aiosqlite:///:memory:", "sqlite:///svc.db"]
)
def test_a_database_that_would_lose_events_is_rejected(url: str):
    with pytest.raises(ValueError, match="SVC_DATABASE_URL"):
        database.parse_url(url)


async def test_a_database_that_cannot_be_opened_leaves_no_thread_behind(tmp_path: Path):
    before = threading.enumerate()

    async with storage.opened(f"sqlite+aiosqlite:///{tmp_path}/missing/svc.db") as store:
        with pytest.raises(StorageUnavailable) as outage:
            await store.read(is_current)

    assert "unable to open" in str(outage.value.__cause__)
    assert [each for each in threading.enumerate() if "connection_worker" in each.name and each not in before] == []
