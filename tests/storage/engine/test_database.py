"""The tripwires of what the storage layer relies on in its drivers."""

import os
import shutil
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
from tests.storage.engine.naming import add, names


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


@pytest.mark.parametrize("way", ["removed", "replaced"])
async def test_a_removed_or_replaced_file_gets_no_more_writes_or_reads(sqlite_url: str, tmp_path: Path, way: str):
    path, aside, copy = tmp_path / "svc.db", tmp_path / "aside.db", tmp_path / "copy.db"
    shutil.copy(path, copy)
    async with storage.opened(sqlite_url) as store:
        await store.write(add, "before")
        path.rename(aside)
        if way == "replaced":
            copy.rename(path)

        for _ in range(2):  # the second is a new connection
            with pytest.raises(StorageUnavailable):
                await store.write(add, "lost")
            with pytest.raises(StorageUnavailable):
                await names(store)

        assert not store.is_available
        assert path.exists() == (way == "replaced")
        os.replace(aside, path)  # noqa: PTH105 - over what is there
        await store.write(add, "after")
        assert await names(store) == ["after", "before"]
