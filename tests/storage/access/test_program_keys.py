"""Program keys: replaced, imported, flagged, stored as hashes, and who uses them; Idempotency-Keys."""

import asyncio
from datetime import datetime, timedelta
from itertools import count
from typing import Any

import pytest

import background
from storage import Storage
from storage.access import agent_keys, program_keys
from storage.engine import recurring
from storage.rules import errors, keys
from storage.tables import idempotent_answers, refused_calls
from storage.tables import key_callers as caller_rows
from storage.tables import program_keys as table
from storage.tracking import key_callers, sales
from storage.tracking.key_callers import KeyCaller
from storage.tracking.received_calls import PresentedKey
from storage.tracking.sale_decisions import Sale
from tests.world import NOW, World, stored

DEADLINE, LATER = NOW + timedelta(days=7), NOW + timedelta(hours=1)
WEEK = "2026-05-18"  # its Monday
SHOP: dict[str, Any] = {"user_agent": "acme-shop/1.2", "network_hash": "ab12"}


async def works(acme: World, secret: str, at: datetime = NOW) -> int:
    key = await acme.store.read(program_keys.authenticate, keys.digest(secret), at=at)
    return key.program_id


async def test_nothing_stored_contains_a_key_and_one_from_before_the_prefix_works_by_exact_match(acme: World):
    rows = str(await stored(acme, table))
    assert (acme.key in rows, keys.digest(acme.key) in rows) == (False, True)
    await acme.do(program_keys.import_key, "legacy-key-of-2019-abcdef")

    assert await works(acme, "legacy-key-of-2019-abcdef") == acme.program_id
    with pytest.raises(errors.InvalidKey):
        await works(acme, "legacy-key-of-2019-abcdeF")
    for weak in ("short", "with a blank in the middle", "ünprintable-secret-key"):
        with pytest.raises(errors.ValidationError):
            await acme.do(program_keys.import_key, weak)


async def listed(acme: World) -> list[KeyCaller]:
    await background.save_callers(acme.store)
    return await acme.store.read(key_callers.list_callers, acme.program_id, by_week=True)


async def sell(acme: World, transaction_id: str, **details: Any) -> None:
    sale = Sale(transaction_id, 100, NOW, customer_key="user-1")
    about = {"call": "sale", "transaction_id": transaction_id, **SHOP, **details}
    await acme.handle(sales.record, sale, **about)


async def test_the_calls_of_a_caller_are_added_up_and_deleted_after_90_days_without_one(acme: World):
    await acme.customer()
    acme.store.callers.take()
    await sell(acme, "inv-1")
    before = await listed(acme)
    await sell(acme, "inv-2", at=LATER)
    await sell(acme, "inv-3", user_agent="backfill\u202e\x07" + "x" * 500, at=NOW)

    callers = await listed(acme)

    assert before == [KeyCaller(True, "acme-shop/1.2", "ab12", {"sale": 1}, NOW, NOW, "acme-shop/1.2 ab12", {WEEK: 1})]
    backfill = "backfill" + "x" * 152
    assert callers == [
        KeyCaller(True, "acme-shop/1.2", "ab12", {"sale": 2}, NOW, LATER, "acme-shop/1.2 ab12", {WEEK: 2}),
        KeyCaller(True, backfill, "ab12", {"sale": 1}, NOW, NOW, f"{backfill} ab12", {WEEK: 1}),
    ]
    await acme.store.write(recurring.prune, caller_rows, at=NOW + timedelta(days=89))
    assert await listed(acme) == callers
    await acme.store.write(recurring.prune, caller_rows, at=NOW + timedelta(days=91))
    assert await listed(acme) == []


async def test_calls_with_a_replaced_key_are_listed_for_thirty_days_and_so_is_their_caller(acme: World):
    await acme.do(program_keys.regenerate)
    with pytest.raises(errors.InvalidKey):
        await sell(acme, "inv-1")

    row = refused_calls.c
    logged = await stored(acme, row.program_id, row.code, row.transaction_id)
    callers = await listed(acme)
    pruned = [await acme.store.write(recurring.prune, refused_calls, at=NOW + timedelta(30, late)) for late in (0, 1)]
    assert logged == [(acme.program_id, "invalid_key", "inv-1")]
    assert [(each.is_current, each.user_agent) for each in callers] == [(False, "acme-shop/1.2")]
    assert pruned == [0, 1]


async def test_calls_with_invented_keys_are_not_stored_and_fill_no_memory(acme: World, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(key_callers, "MOST_COUNTED", 3)
    for n in range(5):
        with pytest.raises(errors.InvalidKey):
            await acme.handle(sales.record, Sale("inv-1", 100, NOW, customer_key="x"), PresentedKey(f"{n:064}"), **SHOP)

    waiting = acme.store.callers.take()
    await acme.store.write(key_callers.save, waiting)

    assert len(waiting) == 3
    assert await stored(acme, caller_rows) == []


@pytest.fixture
async def agent_key_id(acme: World) -> int:
    return int((await acme.issue()).id)


def respond(_connection: Any) -> str:
    return "{}"


async def once(store: Storage, key_id: int, work: Any = respond, *, at: datetime = NOW, asks: str = "a") -> Any:
    return await store.write(agent_keys.once, key_id, ("key", asks), work, at=at)


@pytest.mark.both_databases
async def test_concurrent_repeats_are_performed_once_and_get_the_first_response(store: Storage, agent_key_id: int):
    performed = count(1)

    def work(_connection: Any) -> str:
        return f'{{"done": {next(performed)}}}'

    answers = await asyncio.gather(*(once(store, agent_key_id, work) for _ in range(20)))

    assert sorted(is_repeat for _, is_repeat in answers) == [False] + [True] * 19
    assert {body for body, _ in answers} == {'{"done": 1}'}
    assert next(performed) == 2


async def test_responses_are_stored_for_30_days_and_their_request_alone_errors_never(store: Storage, agent_key_id: int):
    with pytest.raises(ZeroDivisionError):
        await once(store, agent_key_id, lambda _: 1 / 0)
    await once(store, agent_key_id)

    with pytest.raises(errors.IdempotencyKeyReused):
        await once(store, agent_key_id, asks="b")
    repeats = [await once(store, agent_key_id, at=NOW + timedelta(days=days)) for days in (29, 30)]
    assert [is_repeat for _, is_repeat in repeats] == [True, False]
    pruned = [await store.write(recurring.prune, idempotent_answers, at=NOW + timedelta(days=day)) for day in (59, 60)]
    assert pruned == [0, 1]
