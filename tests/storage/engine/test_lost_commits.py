"""COMMIT or its response gets lost, or takes long: rows are stored once, and no response is untrue or too late."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from types import FunctionType
from typing import Any

import pytest
from sqlalchemy import Connection, insert

import storage
from storage import Storage
from storage.engine import postgres_lane
from storage.engine.group_commit import ANSWER_SECONDS
from storage.rules.errors import OutcomeUnknown, Overloaded, StorageUnavailable
from storage.tables import clicks
from tests import postgres, proxy
from tests.busy import one
from tests.proxy import Proxy
from tests.storage.engine.naming import add, names
from tests.world import NOW, World, stored

NAMES = ["a", "b", "c"]


@pytest.fixture
async def store(between: Proxy) -> AsyncIterator[Storage]:
    """Storage whose lanes have each committed something."""
    async with storage.opened(between.url) as opened:
        yield opened


def add_click(connection: Connection, program_id: int, url: str) -> str:
    click = {"click_id": secrets.token_hex(16), "partner_id": 1, "at": NOW, "landing_url": url}
    connection.execute(insert(clicks).values(program_id=program_id, **click))
    return url


async def add_all(acme: World) -> list[str]:
    """Record three clicks of a program: on a distributed database only a program's rows have a token beside them."""
    program_id = acme.program_id
    return await asyncio.gather(*(acme.store.write_in(program_id, add_click, program_id, name) for name in NAMES))


async def urls(acme: World) -> list[str]:
    return sorted(url for (url,) in await stored(acme, clicks.c.landing_url))


@pytest.mark.parametrize(("lost", "times"), [("lose_answers", 1), ("lose_answers", 2), ("lose_commits", 2)])
async def test_a_lost_commit_returns_its_results_or_runs_again(acme: World, between: Proxy, lost: str, times: int):
    assert await add_all(acme) == NAMES
    setattr(between, lost, times)

    assert await add_all(acme) == NAMES
    assert await add_all(acme) == NAMES
    assert await urls(acme) == sorted(3 * NAMES)


async def test_a_commit_that_never_arrives_becomes_an_outage(acme: World, between: Proxy):
    between.lose_commits = postgres_lane.TRIES

    with pytest.raises(StorageUnavailable) as outage:
        await add_all(acme)

    assert outage.value.details == {"retry_after_seconds": 2}
    assert await urls(acme) == []


@pytest.mark.parametrize("earlier", [0, 1])
async def test_a_lane_waits_for_a_running_commit(store: Storage, between: Proxy, postgres_url: str, earlier: int):
    for _ in range(earlier):  # the lane's row is there already, or is itself on its way
        await store.write(add, "a")
    between.delay_commit = True
    write = asyncio.ensure_future(store.write(add, "a"))

    await postgres.until_blocked(postgres_url)
    assert not write.done()
    between.deliver.set()

    assert await write == "a"
    assert await names(store) == ["a"] * (earlier + 1)


async def test_an_undetermined_outcome_is_unknown(store: Storage, between: Proxy, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(postgres_lane, "RESOLVE_SECONDS", 0.5)
    between.delay_commit = True

    with pytest.raises(OutcomeUnknown) as unknown:
        await store.write(add, "a")
    between.deliver.set()

    assert unknown.value.details == {"retry_after_seconds": 2}
    assert "the same ids" in unknown.value.advice
    assert await store.write(add, "b") == "b"


async def test_each_write_has_an_answer_in_8_seconds(postgres_url: str, record_property: Callable[[str, object], None]):
    loop = asyncio.get_running_loop()
    async with AsyncExitStack() as stack:
        operator = await stack.enter_async_context(postgres.connected(postgres_url))
        proxies = [await stack.enter_async_context(proxy.before(postgres_url)) for _ in range(3)]
        stores = [await stack.enter_async_context(storage.opened(each.url)) for each in proxies]
        for store in stores:
            await store.write(add, "first")
        frozen, slow, _ = proxies
        frozen.flowing.clear()
        slow.delay_seconds = 1.0
        await operator.execute("BEGIN; LOCK TABLE workspaces")

        async def answered(store: Storage, operation: Any, program: int) -> tuple[Any, float]:
            began = loop.time()
            outcomes = await asyncio.gather(store.write_in(program, operation, "a"), return_exceptions=True)
            return outcomes[0], loop.time() - began

        codes = [add.__code__.replace(co_qualname=f"kind_{number}") for number in range(5)]
        kinds = [FunctionType(code, add.__globals__) for code in codes]  # each has a transaction of its own
        sent: list[asyncio.Future[tuple[Any, float]]] = []
        for _ in range(2):
            mix = [(store, each, program) for store in stores for each in kinds for program in (1, 2)]
            sent += [asyncio.ensure_future(answered(*each)) for each in mix]
            await asyncio.wait(sent, timeout=3)
        answers = await asyncio.gather(*sent)
        frozen.flowing.set()

    longest = max(seconds for _, seconds in answers)
    record_property("seconds", longest)
    assert longest < ANSWER_SECONDS + 0.5
    assert {type(outcome) for outcome, _ in answers} <= {StorageUnavailable, OutcomeUnknown, Overloaded}


async def test_a_locked_table_holds_up_what_needs_it_and_is_no_outage_of_the_rest(postgres_url: str):
    async with storage.opened(postgres_url) as store, postgres.connected(postgres_url) as operator:
        await store.write(add, "first")
        await operator.execute("BEGIN; LOCK TABLE workspaces")
        began = asyncio.get_running_loop().time()

        locked, other = await asyncio.gather(store.write(add, "a"), store.write(one), return_exceptions=True)

        assert (type(locked), other) == (StorageUnavailable, 1)
        assert asyncio.get_running_loop().time() - began < postgres_lane.STATEMENT_SECONDS
        assert store.is_available
