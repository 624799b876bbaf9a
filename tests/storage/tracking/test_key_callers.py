"""Who uses a key: the calls of each caller are added up, also with a replaced key; strangers leave nothing."""

from datetime import timedelta
from typing import Any

import pytest

import background
from storage.access import program_keys
from storage.reading import key_callers as reading
from storage.reading.key_callers import KeyCaller
from storage.rules.errors import InvalidKey
from storage.tables import key_callers as table
from storage.tracking import key_callers, sales
from storage.tracking.principals import PresentedKey
from storage.tracking.sales import Sale
from tests.world import NOW, World, stored

pytestmark = pytest.mark.anyio
SHOP: dict[str, Any] = {"user_agent": "acme-shop/1.2", "network_hash": "ab12"}
LATER = NOW + timedelta(hours=1)


async def listed(acme: World) -> list[KeyCaller]:
    await background.save_callers(acme.store)
    return await acme.store.read(reading.list_callers, acme.program_id)


async def sell(acme: World, transaction_id: str, **details: Any) -> None:
    sale = Sale(transaction_id, 100, NOW, customer_key="user-1")
    await acme.handle(sales.record, sale, **{"call": "sale", **SHOP, **details})


async def test_the_calls_of_a_caller_are_added_up_and_deleted_after_90_days_without_one(acme: World):
    await acme.customer()
    acme.store.callers.take()
    await sell(acme, "inv-1")
    before = await listed(acme)
    await sell(acme, "inv-2", at=LATER)
    await sell(acme, "inv-3", user_agent="backfill\u202e\x07" + "x" * 500, at=NOW)

    callers = await listed(acme)

    assert before == [KeyCaller(True, "acme-shop/1.2", "ab12", {"sale": 1}, NOW, NOW)]
    assert callers == [
        KeyCaller(True, "acme-shop/1.2", "ab12", {"sale": 2}, NOW, LATER),
        KeyCaller(True, "backfill" + "x" * 152, "ab12", {"sale": 1}, NOW, NOW),
    ]
    await acme.store.write(key_callers.prune, at=NOW + timedelta(days=89))
    assert await listed(acme) == callers
    await acme.store.write(key_callers.prune, at=NOW + timedelta(days=91))
    assert await listed(acme) == []


async def test_who_still_uses_a_replaced_key_is_listed_as_such(acme: World):
    await acme.store.write(program_keys.regenerate, acme.program_id, at=NOW)
    with pytest.raises(InvalidKey):
        await sell(acme, "inv-1")

    assert [(each.is_current, each.user_agent) for each in await listed(acme)] == [(False, "acme-shop/1.2")]


async def test_calls_with_keys_that_no_program_has_are_not_stored_and_do_not_fill_the_memory(
    acme: World, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(key_callers, "MOST_CALLERS", 3)
    for n in range(5):
        with pytest.raises(InvalidKey):
            await acme.handle(sales.record, Sale("inv-1", 100, NOW, customer_key="x"), PresentedKey(f"{n:064}"), **SHOP)

    waiting = acme.store.callers.take()
    await acme.store.write(key_callers.save, waiting)

    assert len(waiting) == 3
    assert await stored(acme, table) == []
