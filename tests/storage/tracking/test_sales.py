"""Sales, on both databases."""

import asyncio
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from storage.management import partners
from storage.rules import errors
from storage.rules.settlement import CustomerStatus
from storage.tables import commissions, customers, ledger_entries, rollups, sales
from storage.tracking import currencies
from storage.tracking.received_calls import PresentedKey
from tests.world import NOW, World, stored


async def test_a_sale_earns_converts_once_and_steps_the_day_and_a_rejected_one_uses_up_no_transaction_id(acme: World):
    with pytest.raises(errors.CustomerNotFound):
        await acme.sale("inv-1")
    await acme.customer()

    sold = await acme.sale("inv-1", 9_999)
    after_one = await stored(acme, customers.c.status)
    await acme.sale("inv-2", 5_000)

    day = (rollups.c.sales, rollups.c.conversions, rollups.c.revenue_cents, rollups.c.commission_cents)
    assert (sold.commission_cents, sold.currency, sold.customer_key) == (2_000, "USD", "user-1")
    assert after_one == [(CustomerStatus.CONVERSION,)]
    assert await stored(acme, *day) == [(2, 1, 14_999, 3_000)]
    entries = await stored(acme, ledger_entries.c.kind, ledger_entries.c.amount_cents)
    assert entries == [("commission", 2_000), ("commission", 1_000)]


async def test_a_repeat_is_a_duplicate_that_says_whether_it_is_the_same_and_leaves_no_customer_behind(acme: World):
    await acme.customer()
    first = await acme.sale()

    repeats: list[tuple[dict[str, Any], str]] = [
        ({"at": NOW + timedelta(hours=1), "details": '{"product_id": "p-1"}'}, ""),
        ({"amount_cents": 1, "currency": "EUR"}, "another amount_cents and currency."),
        ({"click_id": await acme.visitor()}, "another customer."),
        ({"customer_key": "nobody"}, "another customer."),
    ]
    for fields, differs in repeats:
        with pytest.raises(errors.DuplicateTransaction) as repeat:
            await acme.sale(**fields)
        assert repeat.value.details["same_payload"] == (not differs)
        assert differs in repeat.value.advice
        assert repeat.value.details["existing"] == {"eventId": first.event_id, "recorded_at": NOW}
    assert await stored(acme, customers.c.customer_key) == [("user-1",)]


async def test_one_of_many_concurrent_calls_is_recorded(acme: World):
    await acme.customer()

    results = await asyncio.gather(*(acme.sale() for _ in range(24)), return_exceptions=True)

    assert sum(isinstance(result, errors.DuplicateTransaction) for result in results) == 23
    assert await stored(acme, rollups.c.sales, rollups.c.conversions) == [(1, 1)]


async def test_a_click_finds_its_customer_or_creates_one_and_nothing_is_found_of_another_program(acme: World):
    await acme.sale("inv-0", click_id=await acme.visitor(), customer_key="unknown")
    assert await stored(acme, customers.c.status, customers.c.customer_key) == [(CustomerStatus.CONVERSION, None)]

    other = await acme.beside()
    await other.customer("user-9")

    with pytest.raises(errors.CustomerNotFound):
        await acme.sale(customer_key="user-9")
    with pytest.raises(errors.CustomerWrongProgram):
        await acme.sale(click_id=await other.visitor())
    with pytest.raises(errors.InvalidKey):
        await acme.sale(principal=PresentedKey("0" * 64))


async def test_a_partner_who_left_earns_nothing_and_a_paused_one_still_does(acme: World):
    await acme.customer()
    await acme.do(partners.change, acme.anna, {"status": "paused"})
    sold = await acme.sale("inv-1")
    await acme.do(partners.change, acme.anna, {"status": "inactive"})

    with pytest.raises(errors.CustomerNotAttributed):
        await acme.sale("inv-2")
    assert sold.commission_cents == 2_000


async def test_the_window_bounds_when_the_first_sale_happened_and_not_the_later_ones(acme: World):
    await acme.customer("user-1")
    await acme.customer("user-2")
    await acme.sale("inv-1")
    late, other = NOW + timedelta(days=61), dict[str, Any](customer_key="user-2")

    assert (await acme.sale("inv-2", at=late)).commission_cents == 2_000
    with pytest.raises(errors.AttributionWindowExpired):
        await acme.sale("inv-3", at=late, **other)
    reported_late = await acme.sale("inv-3", at=late, occurred_at=NOW + timedelta(days=60), **other)
    assert reported_late.commission_cents == 2_000


async def test_a_backfilled_sale_counts_on_its_own_day_and_its_commission_when_it_is_created(acme: World):
    async def days() -> dict[date, list[int]]:
        counts = (rollups.c.revenue_cents, rollups.c.commission_cents)
        return {day: counted for day, *counted in await stored(acme, rollups.c.day, *counts)}

    earlier = NOW - timedelta(days=40)
    await acme.customer(at=earlier - timedelta(days=1))

    await acme.sale(occurred_at=earlier)
    before = await days()
    await acme.refund(amount_cents=5_000, at=NOW + timedelta(days=3))
    after = await days()

    assert (before[earlier.date()], before[NOW.date()]) == ([10_000, 0], [0, 2_000])
    assert (after[earlier.date()], after[NOW.date()]) == ([5_000, 0], [0, 1_000])
    dates = await stored(acme, commissions.c.created_at, commissions.c.hold_until)
    assert dates == [(NOW, earlier + timedelta(days=15))]


async def test_a_sale_before_the_click_earns_nothing(acme: World):
    await acme.customer(at=NOW.replace(microsecond=700_000))

    with pytest.raises(errors.SaleBeforeClick):
        await acme.sale(occurred_at=NOW - timedelta(seconds=1), at=NOW + timedelta(hours=1))

    assert await stored(acme, sales.c.id) == []
    assert (await acme.sale(occurred_at=NOW, at=NOW + timedelta(hours=1))).commission_cents == 2_000


async def test_another_currency_is_converted_at_the_rate_of_its_day_and_the_programs_own_needs_none(acme: World):
    async def sell(transaction_id: str, day: datetime) -> Any:
        return await acme.sale(transaction_id, currency="EUR", occurred_at=day)

    of_iceland = await acme.beside(currency="ISK")
    await of_iceland.customer()
    assert (await of_iceland.sale(currency="ISK")).commission_cents == 2_000
    await acme.customer(at=NOW - timedelta(days=30))
    with pytest.raises(errors.CurrencyNotSupported):
        await sell("inv-1", NOW)
    await acme.store.write(currencies.load, [(date(2026, 5, 1), "USD", "1.10"), (date(2026, 5, 19), "USD", "1.25")])

    sold, day_after = [await sell(f"inv-{day}", datetime(2026, 5, day, tzinfo=UTC)) for day in (18, 19)]

    with pytest.raises(errors.CurrencyNotSupported):
        await sell("inv-3", datetime(2026, 4, 30, 23, tzinfo=UTC))
    assert (sold.commission_cents, day_after.commission_cents, sold.currency) == (2_200, 2_500, "USD")
    rows = await stored(acme, sales.c.amount_cents, sales.c.currency, sales.c.program_cents)
    assert rows == [(10_000, "ISK", 10_000), (10_000, "EUR", 11_000), (10_000, "EUR", 12_500)]
