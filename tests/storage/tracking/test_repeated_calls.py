"""Tracking calls that carry an Idempotency-Key, on both databases."""

import asyncio
from datetime import timedelta
from typing import Any

from storage.checks import books
from storage.rules.errors import IdempotencyKeyReused
from storage.tables import refunds as refund_events
from storage.tracking import refunds
from storage.tracking.refunds import Refund
from storage.tracking.rejection_log import CallDetails
from storage.tracking.repeated_calls import Repeatable, Replayed
from tests.world import NOW, World, stored


async def refund(acme: World, *, asks: str = "hash", at: Any = NOW) -> Any:
    repeatable = Repeatable("once-1", asks, lambda result: f"refunded {result.refunded_cents}")
    outcome = await acme.store.handle(
        refunds.record,
        Refund("inv-1", at, 2_500),
        principal=acme.principal,
        details=CallDetails("refund", "request-1", at),
        repeatable=repeatable,
    )
    return outcome.result


async def test_one_of_many_concurrent_requests_is_performed_and_the_others_get_its_response(acme: World):
    await acme.customer()
    await acme.sale()

    results = await asyncio.gather(*(refund(acme) for _ in range(8)))

    assert results.count(Replayed("refunded 2500")) == 7
    assert await stored(acme, refund_events.c.amount_cents) == [(2_500,)]
    assert await acme.store.read(books.run) == []


async def test_another_request_under_the_same_key_is_rejected_for_30_days(acme: World):
    await acme.customer()
    await acme.sale()
    await refund(acme)

    assert isinstance(await refund(acme, asks="another"), IdempotencyKeyReused)
    assert not isinstance(await refund(acme, asks="another", at=NOW + timedelta(days=31)), IdempotencyKeyReused)
    assert len(await stored(acme, refund_events.c.id)) == 2
