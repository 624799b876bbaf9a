"""COMMIT or its response gets lost: stored rows are stored once, and no response is untrue."""

import asyncio
from collections.abc import AsyncIterator

import asyncpg
import pytest
from sqlalchemy import Connection, insert, select

import storage
from storage import Storage
from storage.engine import postgres_lane
from storage.rules.errors import OutcomeUnknown, StorageUnavailable
from storage.tables import workspaces
from tests import proxy
from tests.proxy import Proxy
from tests.world import NOW

NAMES = ["a", "b", "c"]
BLOCKED = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"


def add(connection: Connection, name: str) -> str:
    connection.execute(insert(workspaces).values(name=name, created_at=NOW))
    return name


async def names(store: Storage) -> list[str]:
    ordered = select(workspaces.c.name).order_by(workspaces.c.name)
    return await store.read(lambda connection: list(connection.execute(ordered).scalars()))


@pytest.fixture
async def between(postgres_url: str) -> AsyncIterator[Proxy]:
    """A proxy between the storage and its database."""
    async with proxy.before(postgres_url) as running:
        yield running


@pytest.fixture
async def store(between: Proxy) -> AsyncIterator[Storage]:
    """Storage whose lanes have each committed something."""
    async with storage.opened(between.url) as opened:
        yield opened


async def add_all(store: Storage) -> list[str]:
    return await asyncio.gather(*(store.write(add, name) for name in NAMES))


@pytest.mark.parametrize("times", [1, 2])
async def test_a_commit_whose_response_was_lost_returns_its_results(store: Storage, between: Proxy, times: int):
    between.lose_answers = times

    assert await add_all(store) == NAMES
    assert await add_all(store) == NAMES
    assert await names(store) == sorted(2 * NAMES)


async def test_a_commit_that_never_arrived_runs_again(store: Storage, between: Proxy):
    await add_all(store)
    between.lose_commits = 2

    assert await add_all(store) == NAMES
    assert await names(store) == sorted(2 * NAMES)


async def test_a_commit_that_never_arrives_becomes_an_outage(store: Storage, between: Proxy):
    between.lose_commits = postgres_lane.TRIES

    with pytest.raises(StorageUnavailable) as outage:
        await store.write(add, "a")

    assert outage.value.details == {"retry_after_seconds": 2}
    assert await names(store) == []


@pytest.mark.parametrize("earlier", [0, 1])
async def test_the_lane_waits_for_a_commit_that_is_still_running(
    store: Storage, between: Proxy, postgres_url: str, earlier: int
):
    for _ in range(earlier):  # the lane's row is there already, or is itself on its way
        await store.write(add, "a")
    observer = await asyncpg.connect(postgres_url.replace("+asyncpg", ""))
    between.delay_commit = True
    write = asyncio.ensure_future(store.write(add, "a"))

    async with asyncio.timeout(20):
        while not await observer.fetchval(BLOCKED):
            assert not write.done()
    between.deliver.set()

    assert await write == "a"
    assert await names(store) == ["a"] * (earlier + 1)
    await observer.close()


async def test_an_outcome_that_cannot_be_determined_is_unknown(
    store: Storage, between: Proxy, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(postgres_lane, "RESOLVE_SECONDS", 0.5)
    between.delay_commit = True

    with pytest.raises(OutcomeUnknown) as unknown:
        await store.write(add, "a")
    between.deliver.set()

    assert unknown.value.details == {"retry_after_seconds": 2}
    assert "the same ids" in unknown.value.advice
    assert await store.write(add, "b") == "b"


async def test_a_connection_lost_before_commit_stores_nothing(store: Storage, between: Proxy):
    def add_and_cut(connection: Connection, name: str) -> str:
        add(connection, name)
        between.cut()
        connection.execute(select(workspaces.c.id)).all()
        return name

    with pytest.raises(StorageUnavailable):
        await store.write(add_and_cut, "a")

    assert await store.write(add, "b") == "b"
    assert await names(store) == ["b"]
