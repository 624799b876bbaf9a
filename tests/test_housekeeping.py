"""Housekeeping deletes what has expired and records payments with a late lead, however much it is."""

import asyncio
from datetime import timedelta

import pytest
from anyio.lowlevel import checkpoint
from sqlalchemy import select

import background
import storage
from storage import Storage
from storage.engine import pruning, recurring
from storage.payments import late_leads
from storage.rules.errors import CustomerNotFound
from storage.tables import recurring_tasks, refused_calls, sales
from storage.tracking import rejection_log
from tests import stripe_events as stripe
from tests.storage.payments.paying import connect, take
from tests.world import NOW, World, stored

LATER = NOW + timedelta(days=31)


async def test_a_large_backlog_is_deleted_in_chunks(acme: World, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(pruning, "ROWS_AT_ONCE", 2)
    for _ in range(7):
        await acme.reject(CustomerNotFound())
    await acme.reject(CustomerNotFound(), at=LATER)

    assert await acme.store.write(rejection_log.prune, at=LATER) == 2
    await background.prune_all(acme.store, at=LATER)

    assert await stored(acme, refused_calls.c.at) == [(LATER,)]


async def test_payments_whose_lead_came_late_are_recorded_in_chunks(acme: World, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(late_leads, "AT_ONCE", 2)
    await connect(acme)
    for number in range(3):
        named = {"svc_customer_key": f"user-{number}"}
        await take(acme, stripe.invoice(f"evt_{number}", name=f"in_{number}", customer=f"cus_{number}", metadata=named))
        await acme.customer(f"user-{number}")

    await background.record_waiting_payments(acme.store, at=NOW)

    assert await stored(acme, sales.c.transaction_id) == [("in_0",), ("in_1",), ("in_2",)]


async def test_a_turn_that_is_cancelled_at_any_moment_ends(acme: World):
    async def go_on() -> None:
        async with background.kept(acme.store, "grouping", every=timedelta(hours=1)):
            await checkpoint()
        await asyncio.Event().wait()

    for steps in range(8):
        going = asyncio.create_task(go_on())
        for _ in range(steps):
            await checkpoint()
        going.cancel()

        assert await asyncio.wait([going], timeout=5) == ({going}, set()), steps


async def test_one_process_at_a_time_groups_events(store: Storage, database_url: str, monkeypatch: pytest.MonkeyPatch):
    grouped: list[Storage] = []

    async def note(by: Storage) -> None:
        grouped.append(by)

    monkeypatch.setattr(background, "group_all", note)
    async with storage.opened(database_url) as other:
        for seconds, process in ((0, store), (5, other), (19, store), (21, other), (22, store)):
            await background.group_in_turn(process, at=NOW + timedelta(seconds=seconds))

    assert grouped == [store, other]


async def test_a_running_task_keeps_its_turn(store: Storage):
    every, begun = timedelta(milliseconds=2), select(recurring_tasks.c.started_at)
    await store.write(recurring.claim, "grouping", every=every, at=NOW)

    async with background.kept(store, "grouping", every=every):
        while await store.read(lambda connection: connection.execute(begun).scalar_one()) == NOW:
            pass
