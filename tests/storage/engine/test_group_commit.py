"""Group commit: one bad write never fails the others, and a response means that the rows are stored."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import Connection, Table, func, insert, select, text

import storage
from storage import Storage
from storage.engine import group_commit, recurring, write_queue
from storage.engine.failures import StaleReadError
from storage.engine.group_commit import QueuedWrite, set_based
from storage.rules.errors import CustomerNotFound, Overloaded
from storage.tables import committed_batches as of_lanes
from storage.tables import program_batches as of_programs
from storage.tables import workspaces
from tests.storage.engine.naming import add, names
from tests.world import NOW


def add_and_reject(connection: Connection, name: str) -> str:
    add(connection, name)
    raise CustomerNotFound


@set_based
def add_all(connection: Connection, batch: Sequence[str]) -> Sequence[str]:
    for name in batch:
        connection.execute(text("INSERT INTO workspaces (name, created_at) VALUES (:name, 1)"), {"name": name})
        if name == "poisoned":
            connection.execute(text("INSERT INTO no_such_table VALUES (1)"))
    return batch


async def test_a_failing_or_rejected_write_leaves_nothing_and_its_batch_is_stored(store: Storage, database_url: str):
    batch: Any = [store.write_item(0, add_all, name) for name in ("a", "poisoned", "b")]
    plain = (store.write(add, "c"), store.write(add_and_reject, "rejected"))
    a, poisoned, b, c, rejected = await asyncio.gather(*batch, *plain, return_exceptions=True)

    assert (a, b, c) == ("a", "b", "c")
    assert isinstance(poisoned, Exception)
    assert isinstance(rejected, CustomerNotFound)
    async with storage.opened(database_url) as another:
        assert await names(store) == await names(another) == ["a", "b", "c"]


async def test_closing_commits_what_was_accepted(database_url: str):
    async with storage.opened(database_url) as store:
        accepted = [asyncio.ensure_future(store.write_item(0, add_all, f"{n:02}")) for n in range(40)]
        await asyncio.wait(accepted, timeout=0)

    assert [await write for write in accepted] == [f"{n:02}" for n in range(40)]


async def test_a_full_queue_rejects_and_says_when_to_retry(sqlite_url: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(write_queue, "MOST_WAITING", 5)
    async with storage.opened(sqlite_url) as store:
        outcomes = await asyncio.gather(*(store.write(add, str(n)) for n in range(9)), return_exceptions=True)

    rejected = [outcome for outcome in outcomes if isinstance(outcome, Overloaded)]
    assert len(rejected) == 4
    assert rejected[0].details == {"retry_after_seconds": 1}


async def test_a_write_that_lost_a_race_is_run_again(store: Storage):
    lost: list[int] = []

    def contended(connection: Connection) -> int:
        if len(lost) < 2:
            lost.append(1)
            raise StaleReadError
        return connection.execute(select(func.count()).select_from(workspaces)).scalar_one()

    assert await store.write(contended) == 0
    assert len(lost) == 2


async def test_a_reader_cannot_write(store: Storage):
    def write(connection: Connection) -> Any:
        return connection.execute(insert(workspaces).values(name="a", created_at=NOW))

    with pytest.raises(Exception, match=r"(?i)read.?only|not authorized"):
        await store.read(write)
    assert await names(store) == []


def queued(operation: Any, program: Any, number: int = 0) -> QueuedWrite:
    future: Any = None
    return QueuedWrite(operation, (f"{program}{number}",), {}, future, 0.0, program)


def test_a_batch_is_split_by_kind_and_program():
    batch = [queued(operation, program, n) for program in ("b", "a") for n, operation in ((2, add_all), (1, add))]
    expected = {
        (False, False): [["a1", "a2", "b1", "b2"]],
        (True, False): [["a1"], ["a2", "b2"], ["b1"]],
        (True, True): [["a1"], ["a2"], ["b1"], ["b2"]],
    }

    for (each_operation, by_program), transactions in expected.items():
        parts = group_commit.transactions_of(batch, each_operation=each_operation, by_program=by_program)

        assert sorted(sorted(write.arguments[0] for write in writes) for writes in parts) == transactions


@pytest.mark.parametrize("table", [of_lanes, of_programs])
async def test_tokens_are_deleted_after_a_day(store: Storage, table: Table):
    def fill(connection: Connection) -> None:
        for lane, at in (("new", NOW), ("old", NOW - timedelta(days=2))):
            of_program = {"program_id": 1} if table is of_programs else {}
            connection.execute(insert(table).values(lane=lane, token="", at=at, **of_program))

    await store.write(fill)
    await store.write(recurring.prune, table, at=NOW)

    left = select(table.c.lane).where(table.c.lane.in_(["new", "old"]))
    assert await store.read(lambda connection: list(connection.execute(left).scalars())) == ["new"]
