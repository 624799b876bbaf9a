"""Idempotency-Keys: the first answer is given again, for 30 days, and for that request only."""

import asyncio
from datetime import datetime, timedelta
from typing import Any

import pytest

from storage import Storage
from storage.access import agent_keys, idempotency
from storage.access.idempotency import Request, WriteResponse
from storage.rules.errors import IdempotencyKeyReused, NotFound
from storage.rules.scope import Scope
from tests.storage.databases import both_databases
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


@both_databases
async def test_concurrent_repeats_are_performed_once_and_get_the_first_response(store: Storage, agent_key_id: int):
    work = Counted()

    answers = await asyncio.gather(*(once(store, agent_key_id, work) for _ in range(20)))

    assert sorted(answer.replayed for answer in answers) == [False] + [True] * 19
    assert {(answer.status, answer.body) for answer in answers} == {(201, '{"done": 1}')}
    assert work.times == 1


async def test_a_write_that_fails_may_be_sent_again(store: Storage, agent_key_id: int):
    def fails(_connection: Any) -> WriteResponse:
        raise NotFound

    with pytest.raises(NotFound):
        await once(store, agent_key_id, fails)

    assert (await once(store, agent_key_id, Counted())).replayed is False


async def test_responses_are_stored_for_30_days_and_for_their_request_only(store: Storage, agent_key_id: int):
    await once(store, agent_key_id, Counted())

    with pytest.raises(IdempotencyKeyReused):
        await once(store, agent_key_id, Counted(), asks="b")
    repeats = [await once(store, agent_key_id, Counted(), at=NOW + timedelta(days=days)) for days in (29, 30)]
    assert [each.replayed for each in repeats] == [True, False]
    pruned = [await store.write(idempotency.prune, at=NOW + timedelta(days=days)) for days in (59, 60)]
    assert pruned == [0, 1]
