"""Reads: bounded by number and by time, and never in the way of the event loop, on both databases."""

import asyncio
import threading

import pytest

import storage
from storage import Storage
from storage.engine import read_queue
from storage.engine.database import READERS
from storage.rules.errors import Overloaded
from tests.busy import Busy, one


async def test_the_event_loop_runs_on_while_reads_compute(store: Storage):
    async with Busy(store) as busy:
        for _ in range(1_000):
            await asyncio.create_task(turn())
        assert not any(read.done() for read in busy.reads)

    assert [await read for read in busy.reads] == [1] * READERS


async def turn() -> None:
    """Take one turn of the event loop."""


async def test_a_write_is_committed_while_every_reader_computes(store: Storage):
    async with Busy(store):
        assert await store.write(one) == 1


async def test_a_read_waits_for_a_connection_and_runs(store: Storage):
    async with Busy(store) as busy:
        waiting = asyncio.ensure_future(store.read(one))
        await asyncio.create_task(turn())
        assert not waiting.done()
        busy.let_go()

        assert await waiting == 1


async def test_a_read_that_waited_too_long_is_rejected(store: Storage, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(read_queue, "LONGEST_WAIT_SECONDS", 0.01)

    async with Busy(store):
        with pytest.raises(Overloaded) as turned_away:
            await store.reader.read(one)

    assert turned_away.value.details == {"retry_after_seconds": 1}
    assert await store.read(one) == 1


async def test_a_full_queue_of_reads_rejects_at_once(store: Storage, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(read_queue, "MOST_WAITING", 3)

    async with Busy(store) as busy:
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


async def test_closing_ends_the_threads_of_the_readers(database_url: str):
    before = set(threading.enumerate())
    async with storage.opened(database_url) as store:
        await asyncio.gather(*(store.read(one) for _ in range(READERS)))

    started = set(threading.enumerate()) - before
    assert [thread.name for thread in started if thread.name.startswith(("reader", "connection_worker"))] == []


async def test_a_read_that_comes_while_storage_closes_is_rejected(postgres_url: str):
    async with storage.opened(postgres_url) as store:
        assert await store.read(one) == 1

    with pytest.raises(Overloaded):
        await store.read(one)
