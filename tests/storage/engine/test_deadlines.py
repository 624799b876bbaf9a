"""How long a write may take: its caller has an answer within 8 seconds, and a locked table holds up nothing else."""

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Any

import asyncpg
from sqlalchemy import Connection, text

import storage
from storage import Storage
from storage.engine import postgres_lane
from storage.engine.group_commit import ANSWER_SECONDS
from storage.rules.errors import OutcomeUnknown, Overloaded, StorageUnavailable
from tests import proxy
from tests.storage.engine.naming import add


def kinds() -> list[Callable[[Connection, str], str]]:
    """Return five operations: each has a transaction of its own."""

    def kind(number: int) -> Callable[[Connection, str], str]:
        def operation(connection: Connection, name: str) -> str:
            return add(connection, name)

        operation.__qualname__ = f"kind_{number}"
        return operation

    return [kind(number) for number in range(5)]


async def test_every_write_has_an_answer_within_eight_seconds_whatever_the_mix(postgres_url: str):
    loop = asyncio.get_running_loop()
    operator = await asyncpg.connect(postgres_url.replace("+asyncpg", ""))
    async with AsyncExitStack() as stack:
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

        sent: list[asyncio.Future[tuple[Any, float]]] = []
        for _ in range(2):
            mix = [(store, each, program) for store in stores for each in kinds() for program in (1, 2)]
            sent += [asyncio.ensure_future(answered(*each)) for each in mix]
            await asyncio.wait(sent, timeout=3)
        answers = await asyncio.gather(*sent)
        frozen.flowing.set()

    await operator.close()
    assert max(seconds for _, seconds in answers) < ANSWER_SECONDS + 0.5
    assert {type(outcome) for outcome, _ in answers} <= {StorageUnavailable, OutcomeUnknown, Overloaded}


async def test_a_locked_table_holds_up_what_needs_it_and_is_no_outage_of_the_rest(postgres_url: str):
    operator = await asyncpg.connect(postgres_url.replace("+asyncpg", ""))
    async with storage.opened(postgres_url) as store:
        await store.write(add, "first")
        await operator.execute("BEGIN; LOCK TABLE workspaces")
        began = asyncio.get_running_loop().time()

        locked, other = await asyncio.gather(store.write(add, "a"), store.write(pass_by), return_exceptions=True)

        assert (type(locked), other) == (StorageUnavailable, 1)
        assert asyncio.get_running_loop().time() - began < postgres_lane.STATEMENT_SECONDS
        assert store.is_available
    await operator.close()


def pass_by(connection: Connection) -> int:
    return int(connection.execute(text("SELECT 1")).scalar_one())
