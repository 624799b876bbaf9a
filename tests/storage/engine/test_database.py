"""What storage relies on in its drivers, plans of PostgreSQL, sealed secrets, and the turns of recurring tasks."""

import asyncio
import os
import shutil
import sqlite3
import sys
import threading
import time
from collections.abc import Callable
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, text

import background
import storage
from storage import Storage
from storage.engine import citus, database, recurring, sealing
from storage.engine.recurring import NEVER
from storage.engine.sealing import Sealer, UnreadableSecretError
from storage.migrations import is_current
from storage.rules.errors import StorageUnavailable
from tests.storage.engine.naming import add, names
from tests.world import NOW, World


async def test_an_acknowledged_event_survives_power_loss(sqlite_url: str):
    def pragmas(connection: Connection) -> list[object]:
        set_here = ("journal_mode", "synchronous", "foreign_keys")
        return [connection.execute(text(f"PRAGMA {name}")).scalar() for name in set_here]

    async with storage.opened(sqlite_url) as store:
        assert await store.write(pragmas) == ["wal", 2, 1]


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

        await stays_away(store)
        await stays_away(store)  # over a new connection

        assert not store.is_available
        assert path.exists() == (way == "replaced")
        os.replace(aside, path)  # noqa: PTH105 - over what is there
        await store.write(add, "after")
        assert await names(store) == ["after", "before"]


async def test_without_its_wal_file_nothing_is_acknowledged_and_what_was_is_not_lost(
    sqlite_url: str, tmp_path: Path, record_property: Callable[[str, object], None]
):
    wal = tmp_path / "svc.db-wal"
    async with storage.opened(sqlite_url) as store:
        await store.write(add, "before")
        assert await names(store) == ["before"]
        aside = wal.rename(tmp_path / "aside")

        await stays_away(store)
        with closing(sqlite3.connect(f"file:{tmp_path / 'svc.db'}?immutable=1", uri=True)) as other:
            assert other.execute("SELECT name FROM workspaces").fetchall() == [("before",)]
        aside.rename(wal)
        began = time.monotonic()
        await store.write(add, "after")
        record_property("seconds", time.monotonic() - began)
        wal.unlink()
        await stays_away(store)


async def fill(store: Storage) -> None:
    """Write so much that SQLite itself moves pages to the file from time to time."""
    for n in range(60):
        await store.write(add, "x" * 100_000)
        assert len(await names(store)) == n + 1


async def test_a_file_that_another_was_copied_over_gets_no_more_writes_or_reads(sqlite_url: str, tmp_path: Path):
    path, copy = tmp_path / "svc.db", tmp_path / "copy.db"
    async with storage.opened(sqlite_url) as store:
        shutil.copy(path, copy)
        await fill(store)
        shutil.copy(copy, path)

        await stays_away(store)
        await stays_away(store)


async def test_a_command_beside_the_service_leaves_its_index_and_its_wal_file(sqlite_url: str, tmp_path: Path):
    emptying = "import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute('DELETE FROM workspaces').connection.commit()"
    async with storage.opened(sqlite_url) as store:
        await fill(store)

        process = await asyncio.create_subprocess_exec(sys.executable, "-c", emptying, tmp_path / "svc.db")
        assert await process.wait() == 0

        assert (tmp_path / "svc.db-wal").exists()
        await store.write(add, "after")
        assert await names(store) == ["after"]


async def stays_away(store: Storage) -> None:
    with pytest.raises(StorageUnavailable):
        await store.write(add, "lost")
    with pytest.raises(StorageUnavailable):
        await names(store)


async def analyzed(store: Storage) -> bool:
    """Analyze new tables; return whether the customers' table was one."""

    def flush(connection: Connection) -> None:
        if connection.dialect.name == "postgresql":  # what a connection did is counted within a second otherwise
            connection.execute(text("SELECT pg_stat_force_next_flush()"))

    await store.write(flush)
    return "customers" in await store.write(database.analyze_new_tables)


async def test_a_table_is_analyzed_once_it_has_rows_and_then_left_to_autovacuum(store: Storage, acme: World):
    is_distributed = await store.read(citus.is_distributed)  # the nodes of Citus look at their own
    is_sqlite = await store.read(lambda connection: connection.dialect.name == "sqlite")
    assert not await analyzed(store)

    await asyncio.gather(*(acme.customer(f"user-{n}") for n in range(250)))

    assert [await analyzed(store) for _ in range(2)] == [not is_sqlite and not is_distributed, False]
    await background.group_in_turn(store, at=NOW)


async def test_a_lane_prepares_anew_what_a_migration_changed_beside_it(postgres_url: str):
    def change(connection: Connection, to: str) -> None:
        connection.execute(text(f"ALTER TABLE workspaces ALTER COLUMN name TYPE {to}"))

    async with storage.opened(postgres_url) as store, storage.opened(postgres_url) as newer:
        before = await names(store)
        await newer.write(change, "TEXT")

        assert (before, await names(store)) == ([], [])
        await newer.write(change, "VARCHAR(512)")  # on a cluster other tests use the table, too


def test_a_secret_moves_to_a_new_key():
    sealed = Sealer("old").seal("whsec_1")
    moved = Sealer("new", "old").reseal(sealed)

    assert "whsec_1" not in sealed
    assert (Sealer("old").open(sealed), Sealer("new").open(moved)) == ("whsec_1", "whsec_1")
    with pytest.raises(UnreadableSecretError):
        Sealer("new").open(sealed)


def test_a_local_key_is_created_once_and_is_private_to_its_owner(tmp_path: Path):
    path = tmp_path / "svc.secret"

    first, second = sealing.local_key(path), sealing.local_key(path)

    assert first == second
    assert len(first) >= 32
    assert path.stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.iterdir()) == [path]


async def claim(store: Storage, *, minutes: int = 0, name: str = "housekeeping", lane: int = 0) -> Any:
    about: dict[str, Any] = {"every": timedelta(hours=1), "at": NOW + timedelta(minutes=minutes)}
    return await store.write_in(lane, recurring.claim, name, **about)


async def test_a_task_is_due_an_hour_after_its_last_turn_began_or_was_renewed(store: Storage):
    turns = [await claim(store, minutes=minutes) for minutes in (0, 59, 60, 61)]

    assert turns == [NEVER, None, NOW, None]
    assert await claim(store, name="review") == NEVER
    await store.write(recurring.renew, "review", at=NOW + timedelta(minutes=30))  # it still runs
    turns = [await claim(store, name="review", minutes=minutes) for minutes in (60, 89, 90)]
    assert [turn is not None for turn in turns] == [False, False, True]


@pytest.mark.usefixtures("side_by_side")
async def test_a_clock_that_was_ahead_stops_no_task(store: Storage, caplog: pytest.LogCaptureFixture):
    turns = [await claim(store, minutes=minutes) for minutes in (10_000_000, 0, 1, -3, 60)]

    assert turns == [NEVER, NEVER, None, None, NOW]
    assert "a clock was ahead" in caplog.text


async def test_of_several_processes_at_once_one_gets_the_turn(store: Storage, database_url: str):
    await claim(store)
    async with storage.opened(database_url) as other:
        claims = (claim(each, minutes=60, lane=lane) for each in (store, other) for lane in range(4))
        turns = await asyncio.gather(*claims)

    assert [turn for turn in turns if turn] == [NOW]
