"""Reads: bounded by number and by time, never in the way of the event loop, and reports from a replica."""

import asyncio
import shutil
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, insert, select, text

import storage
from storage import Storage, migrations
from storage.engine import read_queue
from storage.engine.database import READERS
from storage.reports import performance
from storage.rules.errors import NotFound, Overloaded
from storage.rules.periods.period import DateRangeQuery
from storage.tables import workspaces
from tests import postgres, world
from tests.busy import Busy, one
from tests.world import NOW


async def turn() -> None:
    """Take one turn of the event loop."""


async def test_the_event_loop_and_writes_run_on_while_every_reader_computes(store: Storage):
    async with Busy(store) as busy:
        for _ in range(1_000):
            await asyncio.create_task(turn())
        assert await store.write(one) == 1
        assert not any(read.done() for read in busy.reads)

    assert [await read for read in busy.reads] == [1] * READERS


async def test_a_read_that_waits_long_or_in_a_full_queue_is_rejected(store: Storage, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(read_queue, "LONGEST_WAIT_SECONDS", 0.01)
    async with Busy(store) as busy:
        with pytest.raises(Overloaded) as turned_away:
            await store.reader.read(one)
        assert turned_away.value.details == {"retry_after_seconds": 1}

        monkeypatch.setattr(read_queue, "LONGEST_WAIT_SECONDS", 5)
        monkeypatch.setattr(read_queue, "MOST_WAITING", 3)
        waiting = [asyncio.ensure_future(store.read(one)) for _ in range(5)]
        done, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        assert [type(read.exception()) for read in done] == [Overloaded] * 2
        busy.let_go()
        outcomes = await asyncio.gather(*waiting, return_exceptions=True)

    assert outcomes[:3] == [1, 1, 1]


async def test_a_read_whose_caller_left_returns_its_connection(store: Storage):
    async with Busy(store) as busy:
        for read in busy.reads:
            read.cancel()

    assert await asyncio.gather(*(store.read(one) for _ in range(2 * READERS))) == [1] * 2 * READERS


async def test_a_read_that_comes_while_storage_closes_is_rejected(postgres_url: str):
    async with storage.opened(postgres_url) as store:
        assert await store.read(one) == 1

    with pytest.raises(Overloaded):
        await store.read(one)


@pytest.fixture
async def replicated(sqlite_url: str, sqlite_template: Path, tmp_path: Path) -> AsyncIterator[Storage]:
    """Storage with a replica that lags by two seconds and has no workspace; the primary has one."""
    replica_url = f"sqlite+aiosqlite:///{shutil.copy(sqlite_template, tmp_path / 'replica.db')}"
    async with storage.opened(replica_url) as copy:
        await copy.write(read_queue.probe, at=NOW)
    async with storage.opened(sqlite_url, replica_url=replica_url) as store:
        await store.write(lambda connection: connection.execute(insert(workspaces).values(name="Acme", created_at=NOW)))
        await store.measure_replica(at=NOW + timedelta(seconds=2))
        yield store


def names(connection: Connection) -> list[str]:
    return list(connection.execute(select(workspaces.c.name)).scalars())


async def test_reports_are_read_on_the_replica_while_it_is_there_and_lags_little(replicated: Storage, tmp_path: Path):
    def first(connection: Connection) -> str:
        if found := names(connection):
            return found[0]
        raise NotFound

    assert await replicated.report(names) == await replicated.reader.report(names) == []
    assert await replicated.read(names) == ["Acme"]
    assert await replicated.report(first) == "Acme"  # what the replica does not have yet
    assert replicated.replica
    assert replicated.replica.lag_seconds == 2

    await replicated.measure_replica(at=NOW + timedelta(seconds=read_queue.MOST_LAG_SECONDS + 1))
    assert await replicated.report(names) == ["Acme"]

    await replicated.measure_replica(at=NOW)
    (tmp_path / "replica.db").unlink()
    assert await replicated.report(names) == ["Acme"]
    assert replicated.is_available


@pytest.mark.postgresql
async def test_a_report_comes_from_the_replica_once_it_has_the_rows():
    with postgres.running() as primary, postgres.standby_of(primary) as standby:
        await migrations.upgrade(primary.url)
        async with storage.opened(primary.url, replica_url=standby.url) as store:
            acme = await world.acme(store)
            await acme.customer()
            await acme.sale()

            await store.measure_replica(at=datetime.now(UTC))
            in_recovery, report = await store.report(_report, acme.program_id)

            assert store.replica
            assert store.replica.lag_seconds is not None
            assert store.replica.lag_seconds < 1

    assert (in_recovery, report.current.revenue_cents) == (True, 10_000)


def _report(connection: Any, program_id: int) -> tuple[bool, Any]:
    in_recovery = connection.execute(text("SELECT pg_is_in_recovery()")).scalar()
    return in_recovery, performance.read_performance(connection, program_id, DateRangeQuery("30d"), at=NOW)
