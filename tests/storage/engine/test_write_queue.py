"""The write queue: batches stay large with many programs, and a slow program holds up no other one."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any

import asyncpg
import pytest
from sqlalchemy import Connection, text

import storage
from storage import Storage
from storage.engine import write_queue
from storage.engine.citus import is_distributed
from storage.engine.group_commit import BATCH_WRITES, set_based
from tests import postgres

LOCK = 1
AN_HOUR = 3600.0


async def slow_write(store: Storage, *, program: int) -> asyncio.Future[None]:
    """Start a write that waits for the operator's lock, as for a row that another transaction holds."""
    started = asyncio.Event()

    def wait(connection: Connection) -> None:
        started.set()
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": LOCK})

    running = asyncio.ensure_future(store.write_in(program, wait))
    await started.wait()
    return running


@set_based
def echo(_: Connection, batch: Sequence[int]) -> Sequence[int]:
    return batch


def batches() -> int:
    (writes,) = BATCH_WRITES.collect()
    return int(sum(sample.value for sample in writes.samples if sample.name == "svc_batch_writes_count"))


@pytest.fixture
def database_url(postgres_url: str) -> str:
    """SQLite has one lane."""
    return postgres_url


@pytest.fixture
async def operator(postgres_url: str) -> AsyncIterator[asyncpg.Connection]:
    """A connection that holds the lock until it releases it."""
    async with postgres.connected(postgres_url) as connection:
        await connection.execute("SELECT pg_advisory_lock($1)", LOCK)
        yield connection


async def release(operator: asyncpg.Connection, *waiting: asyncio.Future[None]) -> None:
    await operator.execute("SELECT pg_advisory_unlock($1)", LOCK)
    await asyncio.gather(*waiting)


async def test_what_waits_is_one_batch(store: Storage, operator: asyncpg.Connection, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(write_queue, "SLOW_SECONDS", AN_HOUR)
    before = batches()
    slow = await slow_write(store, program=1)

    waiting: Any = [asyncio.ensure_future(store.write_item(program, echo, program)) for program in range(2, 52)]
    await release(operator, slow)

    assert await asyncio.gather(*waiting) == list(range(2, 52))
    are_apart = await store.read(is_distributed)  # there a batch writes one program
    assert batches() - before == (51 if are_apart else 2)


async def test_a_slow_program_holds_up_its_own_writes_and_closing_alone(
    postgres_url: str, operator: asyncpg.Connection
):
    async with storage.opened(postgres_url) as store:
        slow = await slow_write(store, program=1)
        second = asyncio.ensure_future(store.write_item(1, echo, 1))

        assert [await store.write_item(program, echo, program) for program in (2, 3)] == [2, 3]
        assert not slow.done()
        assert not second.done()
        releasing = asyncio.create_task(release(operator, slow))

    assert slow.done()
    assert await second == 1
    await releasing


async def test_another_lane_takes_a_batch(
    store: Storage, operator: asyncpg.Connection, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(write_queue, "SLOW_SECONDS", AN_HOUR)
    monkeypatch.setattr(write_queue, "LARGEST_BATCH", 4)
    slow = await slow_write(store, program=1)

    others = [store.write_item(program, echo, program) for program in range(2, 6)]

    assert await asyncio.gather(*others) == [2, 3, 4, 5]
    assert not slow.done()
    await release(operator, slow)
