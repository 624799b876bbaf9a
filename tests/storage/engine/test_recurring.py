"""Recurring tasks: one process gets each turn, on both databases."""

import asyncio
from datetime import timedelta

import pytest

import storage
from storage import Storage
from storage.engine import recurring
from storage.engine.recurring import TaskTurn
from tests.world import NOW

HOUR = timedelta(hours=1)


async def claim(store: Storage, *, minutes: int = 0, name: str = "housekeeping", lane: int = 0) -> TaskTurn | None:
    at = NOW + timedelta(minutes=minutes)
    turn: TaskTurn | None = await store.write(recurring.claim, name, every=HOUR, at=at, lane=lane)
    return turn


async def test_a_task_is_due_once_an_hour_and_says_when_it_last_began(store: Storage):
    turns = [await claim(store, minutes=minutes) for minutes in (0, 59, 60, 61)]

    assert turns == [TaskTurn(None), None, TaskTurn(NOW), None]
    assert await claim(store, name="review") == TaskTurn(None)


@pytest.mark.usefixtures("side_by_side")
async def test_of_several_processes_at_once_one_gets_the_turn(store: Storage, database_url: str):
    await claim(store)
    async with storage.opened(database_url) as other:
        claims = (claim(each, minutes=60, lane=lane) for each in (store, other) for lane in range(4))
        turns = await asyncio.gather(*claims)

    assert [turn for turn in turns if turn] == [TaskTurn(NOW)]


async def test_a_task_that_runs_for_longer_than_its_interval_is_not_begun_twice(store: Storage):
    await claim(store)
    await store.write(recurring.renew, "housekeeping", at=NOW + timedelta(minutes=30))

    turns = [await claim(store, minutes=minutes) for minutes in (60, 89, 90)]

    assert [turn is not None for turn in turns] == [False, False, True]
