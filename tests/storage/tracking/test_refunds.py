"""Refunds, and calls that carry an Idempotency-Key, on both databases."""

import asyncio
from datetime import datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import func

from storage.lists import balances
from storage.lists.balances import Balance
from storage.lists.commissions import COMMISSIONS
from storage.rules.commission import CommissionStatus
from storage.rules.errors import IdempotencyKeyReused, RefundExceedsSale
from storage.rules.money import RefundStatus
from storage.tables import commissions as commission_table
from storage.tables import ledger_entries, rollups
from storage.tables import refunds as refund_events
from storage.tracking import refunds
from storage.tracking.received_calls import Call, Repeatable, Replayed
from storage.tracking.refunds import Refund, RefundResult
from tests import world
from tests.world import NOW, World, stored

DAY = (rollups.c.sales, rollups.c.revenue_cents, rollups.c.commission_cents)


@pytest.fixture
async def sold(acme: World) -> World:
    """Acme with one sale of 99.99 that earned 20.00."""
    await acme.customer()
    await acme.sale(amount_cents=9_999)
    return acme


async def test_a_refund_takes_its_share_back_and_without_an_amount_the_rest_which_no_longer_counts(sold: World):
    partial, day = await sold.refund(amount_cents=3_333), await stored(sold, *DAY)
    result, again = await sold.refund(), await sold.refund()

    assert partial.status == RefundStatus.PARTIALLY_REFUNDED
    assert (partial.refunded_cents, partial.remaining_cents, partial.commission_reversed_cents) == (3_333, 6_666, 667)
    assert day == [(1, 6_666, 1_333)]
    assert (result.status, result.refunded_total_cents) == (RefundStatus.REFUNDED, 9_999)
    assert (again.status, again.refunded_cents) == (RefundStatus.ALREADY_REFUNDED, 0)
    assert await stored(sold, *DAY) == [(0, 0, 0)]
    assert await stored(sold, commission_table.c.status) == [(CommissionStatus.REVERSED,)]
    entries = await stored(sold, ledger_entries.c.id, ledger_entries.c.corrects_id)
    assert {corrected for _, corrected in entries} == {None, min(entries)[0]}  # a reversal names what it corrects


async def test_the_same_refund_or_call_again_changes_nothing_and_two_calls_are_two_refunds(sold: World):
    first = await sold.refund(amount_cents=500, refund_id="re-1")
    again = await sold.refund(amount_cents=500, refund_id="re-1")
    calls = [await sold.refund(amount_cents=500, request_id=f"request-{n}") for n in ("a", "a", "b")]

    assert again == first._replace(replayed=True)
    assert calls[0] == calls[1]
    assert await stored(sold, refund_events.c.amount_cents) == [(500,)] * 3
    assert await stored(sold, func.sum(ledger_entries.c.amount_cents)) == [(1_700,)]


async def test_a_paid_commission_is_never_edited_and_what_is_owed_back_is_set_against_the_next_payouts(acme: World):
    async def owed() -> Any:
        return (await acme.store.read(balances.of_partners, acme.program_id, [acme.anna], at=NOW))[acme.anna]

    await acme.customer()
    sold = [(await acme.sale(f"inv-{n}", cents)).commission_id for n, cents in enumerate((10_000, 2_500, 5_000))]
    await acme.decide("approved", *sold)
    await acme.decide("paid", sold[0])
    before = await stored(acme, commission_table)
    await acme.refund("inv-0", 5_000)
    owing, account = await owed(), await acme.store.read(world.account, acme.program_id, acme.anna)
    assert await stored(acme, commission_table) == before
    assert account == {"commission": 3_500, "reversal": -1_000, "payout": -2_000}

    await acme.decide("paid", *sold[1:])

    set_off = {each.id: each.set_off_cents for each in (await acme.listed(COMMISSIONS)).data}
    assert (owing.approved_cents, owing.owed_back_cents, owing.to_pay_cents) == (1_500, 1_000, 500)
    assert [set_off[each] for each in sold] == [0, 500, 500]
    assert await owed() == Balance(paid_cents=2_500)


async def test_many_refunds_at_once_never_give_back_more_than_was_paid(sold: World):
    results = await asyncio.gather(*(sold.refund(amount_cents=2_000) for _ in range(9)), return_exceptions=True)

    assert sum(isinstance(result, RefundResult) for result in results) == 4
    assert sum(isinstance(result, RefundExceedsSale) for result in results) == 5
    assert await stored(sold, rollups.c.revenue_cents) == [(1_999,)]


async def repeat(acme: World, *, asks: str = "hash", at: datetime = NOW) -> Any:
    repeatable = Repeatable("once-1", asks, lambda result: f"refunded {result.refunded_cents}")
    call = Call(acme.principal, Refund("inv-1", at, 2_500), "refund", "request-1", at, repeatable=repeatable)
    return (await acme.store.handle(refunds.record, call)).result


async def test_one_of_many_concurrent_requests_is_performed_and_another_under_its_key_rejected_for_30_days(sold: World):
    results = await asyncio.gather(*(repeat(sold) for _ in range(8)))

    assert results.count(Replayed("refunded 2500")) == 7
    assert await stored(sold, refund_events.c.amount_cents) == [(2_500,)]
    assert isinstance(await repeat(sold, asks="another"), IdempotencyKeyReused)
    assert not isinstance(await repeat(sold, asks="another", at=NOW + timedelta(days=31)), IdempotencyKeyReused)
    assert len(await stored(sold, refund_events.c.id)) == 2
