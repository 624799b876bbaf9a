"""Idempotency-Keys, on both databases: the first answer is given again, for 30 days, and for that request only."""

import asyncio
from datetime import datetime, timedelta
from typing import Any

import pytest

from storage import Storage
from storage.access import agent_keys, idempotency
from storage.access.idempotency import Request, WriteResponse
from storage.rules.errors import IdempotencyKeyReused, NotFound
from storage.rules.scope import Scope
from tests.world import NOW, World


@pytest.fixture
async def agent_key_id(acme: World) -> int:
    """The id of an agent key."""
    issued = await acme.store.write(agent_keys.issue, acme.workspace_id, name="A", scopes=[Scope.EVENTS_READ], at=NOW)
    key_id: int = issued.id
    return key_id


class Counted:
    """A write that counts how often it was done."""

    def __init__(self) -> None:
        self.times = 0

    def __call__(self, _connection: Any) -> WriteResponse:
        self.times += 1
        return WriteResponse(201, f'{{"done": {self.times}}}')


async def once(store: Storage, key_id: int, work: Any, *, at: datetime = NOW, asks: str = "a") -> WriteResponse:
    given: WriteResponse = await store.write(idempotency.once, Request(key_id, "key", asks, at), work)
    return given


async def test_a_repeat_gets_the_first_response(store: Storage, agent_key_id: int):
    work = Counted()

    first, second = await once(store, agent_key_id, work), await once(store, agent_key_id, work)

    assert (first, second) == (WriteResponse(201, '{"done": 1}'), WriteResponse(201, '{"done": 1}', replayed=True))
    assert work.times == 1


async def test_concurrent_repeats_are_performed_once(store: Storage, agent_key_id: int):
    work = Counted()

    answers = await asyncio.gather(*(once(store, agent_key_id, work) for _ in range(20)))

    assert sorted(answer.replayed for answer in answers) == [False] + [True] * 19
    assert {answer.body for answer in answers} == {'{"done": 1}'}


async def test_another_request_under_the_same_key_is_rejected(store: Storage, agent_key_id: int):
    await once(store, agent_key_id, Counted())

    with pytest.raises(IdempotencyKeyReused):
        await once(store, agent_key_id, Counted(), asks="b")


async def test_a_write_that_fails_may_be_sent_again(store: Storage, agent_key_id: int):
    def fails(_connection: Any) -> WriteResponse:
        raise NotFound

    with pytest.raises(NotFound):
        await once(store, agent_key_id, fails)

    assert (await once(store, agent_key_id, Counted())).replayed is False


@pytest.mark.parametrize(("days", "replayed"), [(29, True), (30, False)])
async def test_responses_are_stored_for_30_days(store: Storage, agent_key_id: int, days: int, replayed: bool):  # noqa: FBT001 - a parameter of the table above
    await once(store, agent_key_id, Counted())

    again = await once(store, agent_key_id, Counted(), at=NOW + timedelta(days=days))

    assert again.replayed is replayed


async def test_old_responses_are_pruned(store: Storage, agent_key_id: int):
    await once(store, agent_key_id, Counted())

    early = await store.write(idempotency.prune, at=NOW + timedelta(days=29))
    late = await store.write(idempotency.prune, at=NOW + timedelta(days=30))

    assert (early, late) == (0, 1)
