"""Outages of the database: 503 at once for everyone, and the service works again by itself."""

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, asynccontextmanager, closing, contextmanager
from pathlib import Path
from typing import Any

import asyncpg
import pytest
from sqlalchemy import Connection, text

import storage
from storage import Storage
from storage.engine import database, failures, postgres_lane, write_queue
from storage.rules.errors import OutcomeUnknown, Overloaded, StorageUnavailable
from tests import postgres
from tests.proxy import Proxy
from tests.storage.engine.naming import add, names

UNAVAILABLE = "storage is unavailable for writing"
AVAILABLE = "storage is available for writing again"


async def outcomes(store: Storage) -> list[Any]:
    """Write and read a few times at once."""
    writes = [store.write(add, str(n)) for n in range(5)]
    return await asyncio.gather(*writes, *(names(store) for _ in range(5)), return_exceptions=True)


@pytest.fixture
async def served(between: Proxy) -> AsyncIterator[Storage]:
    """Storage over PostgreSQL, through the proxy."""
    async with storage.opened(between.url) as opened:
        assert await opened.write(add, "first") == "first"
        await asyncio.gather(*(names(opened) for _ in range(8)))
        yield opened


async def until_all_is_well(store: Storage) -> None:
    """Write and read until that works, for at most 20 seconds."""
    async with asyncio.timeout(20):
        while any(isinstance(outcome, BaseException) for outcome in await outcomes(store)):
            pass


async def test_an_outage_fails_a_whole_batch_at_once_and_is_logged_once(
    served: Storage, between: Proxy, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(failures, "QUIET_SECONDS", 0)
    between.lose_connections = True
    between.cut()
    await asyncio.gather(*(served.write(add, str(n)) for n in range(3)), return_exceptions=True)
    connections = between.connections

    failed = await asyncio.gather(*(served.write(add, str(n)) for n in range(50)), return_exceptions=True)

    assert {type(outcome) for outcome in failed} == {StorageUnavailable}
    assert between.connections == connections + 1  # one try for fifty writes
    assert not served.is_available
    between.lose_connections = False
    await until_all_is_well(served)
    assert served.is_available
    lines = [record.getMessage() for record in caplog.records if "for writing" in record.getMessage()]
    assert [line.partition(":")[0] for line in lines] == [UNAVAILABLE, AVAILABLE]
    assert all(record.exc_info is None for record in caplog.records)


async def test_a_lost_connection_stores_nothing_and_logs_why(postgres_url: str, caplog: pytest.LogCaptureFixture):
    def go_on_after_the_end(connection: Connection) -> None:
        add(connection, "a")
        process = connection.execute(text("SELECT pg_backend_pid()")).scalar_one()
        ending = f"SELECT pg_terminate_backend({process}, 5000)"
        thread = threading.Thread(target=asyncio.run, args=(postgres.execute(postgres_url, ending),))
        thread.start()
        thread.join()
        connection.execute(text("SELECT 1"))

    async with storage.opened(postgres_url) as store:
        with pytest.raises(StorageUnavailable):
            await store.write(go_on_after_the_end)
        assert await written(store) == ["b"]

    assert [record.getMessage() for record in caplog.records if record.levelname == "ERROR"] == [
        f"{UNAVAILABLE}: terminating connection due to administrator command"
    ]


async def test_a_database_that_hangs_costs_seconds_also_at_the_end(between: Proxy, monkeypatch: pytest.MonkeyPatch):
    for name in ("CONNECT", "STATEMENT", "RESPONSE", "RUN", "RESOLVE"):  # of which a test can wait for a few
        monkeypatch.setattr(postgres_lane, f"{name}_SECONDS", 1)
    async with storage.opened(between.url) as store:
        await until_all_is_well(store)
        between.flowing.clear()

        hung = await outcomes(store)
        between.flowing.set()

        assert {type(outcome) for outcome in hung} <= {StorageUnavailable, OutcomeUnknown}
        await until_all_is_well(store)
        between.flowing.clear()
        cut_off = asyncio.ensure_future(outcomes(store))
        await asyncio.wait([cut_off], timeout=0.1)

    ends = {StorageUnavailable, OutcomeUnknown, Overloaded, asyncio.CancelledError}
    assert {type(outcome) for outcome in await cut_off} <= ends


async def test_a_read_only_server_is_an_outage_only_for_writes(served: Storage, postgres_url: str):
    operator = await asyncpg.connect(postgres_url.replace("+asyncpg", ""))
    name = await operator.fetchval("SELECT current_database()")
    await operator.execute(f'ALTER DATABASE "{name}" SET default_transaction_read_only = on')
    await operator.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1 AND pid <> pg_backend_pid()", name
    )

    await asyncio.gather(served.write(add, "a"), return_exceptions=True)  # the old connection may end in this write
    with pytest.raises(StorageUnavailable):
        await served.write(add, "a")
    assert await names(served) == ["first"]

    await operator.execute("SET default_transaction_read_only = off")
    await operator.execute(f'ALTER DATABASE "{name}" RESET default_transaction_read_only')
    await operator.close()
    await until_all_is_well(served)


async def written(store: Storage) -> list[str]:
    """Write once more; return all that is stored."""
    assert await store.write(add, "b") == "b"
    return await names(store)


@asynccontextmanager
async def held(sqlite_url: str) -> AsyncIterator[Storage]:
    """Storage whose one lane a write holds until the block ends."""
    started, let_go = threading.Event(), threading.Event()

    def hold(_: Connection) -> None:
        started.set()
        assert let_go.wait(20)

    async with storage.opened(sqlite_url) as store:
        holding = asyncio.ensure_future(store.write(hold))
        assert await asyncio.to_thread(started.wait, 20)
        yield store
        let_go.set()
        await holding
        assert await written(store) == ["b"]


async def test_a_write_that_waited_or_lost_its_caller_is_not_stored(sqlite_url: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(write_queue, "LONGEST_WAIT_SECONDS", 0.05)
    async with held(sqlite_url) as store:
        with pytest.raises(Overloaded):
            await store.write(add, "late")
        monkeypatch.setattr(write_queue, "LONGEST_WAIT_SECONDS", 5)
        gone = asyncio.ensure_future(store.write(add, "gone"))
        await asyncio.wait([gone], timeout=0)
        gone.cancel()


@contextmanager
def locked(path: Path) -> Iterator[None]:
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield


@contextmanager
def damaged(path: Path, change: Callable[[bytes], bytes] = lambda _: b"garbage" * 1_000) -> Iterator[None]:
    good = path.read_bytes()
    path.write_bytes(change(good))
    yield
    path.write_bytes(good)


def write_protected(path: Path) -> AbstractContextManager[None]:
    """Give the file a format that no SQLite writes yet: it opens such a file for reading alone."""
    return damaged(path, lambda good: good[:18] + b"\3" + good[19:])


@pytest.mark.parametrize("outage", [locked, damaged, write_protected])
async def test_a_file_that_cannot_be_used_is_an_outage_until_it_is_free_or_restored(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch, outage: Callable[[Path], AbstractContextManager[None]]
):
    monkeypatch.setattr(database, "BUSY_MILLISECONDS", 20)
    async with storage.opened(sqlite_url) as store:
        with outage(Path(sqlite_url.partition("///")[2])), pytest.raises(StorageUnavailable):
            await store.write(add, "a")

        assert await written(store) == ["b"]


async def test_a_full_disk_is_an_outage_until_there_is_room(sqlite_url: str):
    def fill(connection: Connection) -> None:
        connection.execute(text("PRAGMA max_page_count = 1"))  # no more than there are
        for n in range(100_000):
            add(connection, f"{n}" * 20)

    async with storage.opened(sqlite_url) as store:
        with pytest.raises(StorageUnavailable) as full:
            await store.write(fill)

        assert "full" in failures.reason_of(full.value)
        assert await written(store) == ["b"]
