"""Two processes that write the same rows in opposite orders on PostgreSQL wait for each other, never in a circle.

`SVC_LOCKS_SECONDS=60` runs it for longer than the suite does.
"""

import asyncio
import os
import random
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from functools import partial
from itertools import count
from typing import Any

import storage
from storage.checks import books
from storage.lists.commissions import COMMISSIONS
from storage.lists.customers import CUSTOMERS
from storage.lists.payouts import PAYOUTS
from storage.management import by_hand, partners, payouts
from storage.management.commission_decisions import decide_each
from storage.rules import errors
from storage.rules.commission import CommissionStatus
from storage.rules.errors import DuplicateTransaction, PayoutChanged, PayoutOpen, ServiceError
from storage.rules.payout import PayoutState
from storage.tracking import leads, sales
from storage.tracking.leads import Lead
from storage.tracking.received_calls import Call, Repeatable
from storage.tracking.sale_decisions import Sale
from tests import postgres, world
from tests import stripe_events as stripe
from tests.storage.management.paying import UNTIL, do, pay_by, send
from tests.storage.payments.paying import take
from tests.world import NOW, World

SECONDS = float(os.environ.get("SVC_LOCKS_SECONDS", "3"))
SALES, DAYS = 40, 20
requests = count(1)


async def keyed(operation: Any, item: Any, key: str, acme: World) -> None:
    """Make a call with an Idempotency-Key, as the other process does at the same moment."""
    repeatable = Repeatable(key, key, str)
    call = Call(acme.principal, item, "call", f"keyed-{next(requests)}", NOW, repeatable=repeatable)
    outcome = await acme.store.handle(operation, call)
    assert not isinstance(outcome.result, DuplicateTransaction), "a repeat gets the first response"


async def lead(click: str, key: str | None, acme: World) -> None:
    await acme.lead(click, key, is_trusted=key is not None)


async def sell(sale: Sale, acme: World) -> None:
    await acme.handle(sales.record, sale)


async def refund(name: str, refund_id: str | None, acme: World) -> None:
    await acme.refund(name, 10, refund_id=refund_id, request_id=f"refund-{next(requests)}")


async def pay(name: str, click: str, acme: World) -> None:
    """Take a payment of another day, then a refund of it."""
    paid: Any = {"payment_intent": f"pi_{name}", "metadata": {"svc_click_id": click}, "at": NOW - timedelta(days=3)}
    await take(acme, stripe.checkout(f"evt_{name}", **paid))
    await take(acme, stripe.charge_refunded(f"evt_back_{name}", total=100, intent=f"pi_{name}"))


async def reject_some(acme: World) -> None:
    """Reject commissions, newest first, as a person does on a page."""
    pending = await acme.listed(COMMISSIONS, status=CommissionStatus.PENDING)
    await acme.do(decide_each, [each.id for each in pending.data[:5]], CommissionStatus.REJECTED)


async def move_one(partner: str, acme: World) -> None:
    """Move the newest customer with the unpaid past to a partner, and credit that one by hand."""
    to: Any = {"partner_id": getattr(acme, partner), "reason": "A trial"}
    for each in (await acme.listed(CUSTOMERS)).data[:1]:
        await acme.do(partners.move_customer, each.id, past=partners.Past.MOVE, **to)
        sale = {"amount_cents": 500, "currency": "USD", "customer_key": each.customer_key}
        await acme.do(by_hand.credit_sale, **sale, **to)


async def pay_all(acme: World) -> None:
    """Approve some, pay one of them at once, draft a payout of the others, and send it, as two people may."""
    pending = await acme.listed(COMMISSIONS, status=CommissionStatus.PENDING)
    chosen = [each.id for each in pending.data[-8:]]
    for ids, status in ((chosen, CommissionStatus.APPROVED), (chosen[::-1][:2], CommissionStatus.PAID)):
        await do(acme, decide_each, ids, status)
    with suppress(PayoutOpen):
        await do(acme, payouts.draft, earned_until=UNTIL)
    for each in (await acme.listed(PAYOUTS, state=PayoutState.DRAFT)).data:
        with suppress(PayoutChanged):
            await send(acme, each)
    for each in (await acme.listed(PAYOUTS, state=PayoutState.DRAFT)).data:
        await do(acme, payouts.discard, each.id)


def calls(number: int, clicks: list[str]) -> Iterator[Callable[[World], Awaitable[None]]]:
    """Yield what both processes do in a round, each in an order of its own."""
    for n, click in enumerate(clicks):
        name, key = f"{number}-{n}", f"user-{number}-{n}"
        sale = Sale(f"sale-{name}", 1_000, NOW, click_id=click, occurred_at=NOW - timedelta(days=n % DAYS))
        yield partial(lead, click, None)
        yield partial(lead, click, key)
        yield partial(keyed, leads.record, Lead(click, key, NOW), f"lead-{name}")
        yield partial(keyed, sales.record, sale, f"key-{name}") if n % 2 else partial(sell, sale)
        yield partial(refund, f"sale-{number - 1}-{n}", None)
        yield partial(refund, f"sale-{number - 1}-{n}", "again")
        if n % 8 == 0:
            yield partial(pay, name, click)
    yield reject_some
    yield pay_all
    yield from (partial(move_one, partner) for partner in ("anna", "ben", "anna"))


async def test_two_processes_never_wait_for_each_other_in_a_circle(postgres_url: str):
    results: list[Any] = []
    async with storage.opened(postgres_url) as one, storage.opened(postgres_url) as other:
        acme = await world.acme(one)
        for partner_id in (acme.anna, acme.ben):
            await pay_by(acme, partner_id)
        ends_at = asyncio.get_running_loop().time() + SECONDS
        for number in count():
            clicks = [await acme.visitor(at=NOW - timedelta(days=DAYS)) for _ in range(SALES)]
            mine, theirs = list(calls(number, clicks)), list(calls(number, clicks))[::-1]
            random.Random(number).shuffle(mine)
            elsewhere = replace(acme, store=other)
            running = [*(each(acme) for each in mine), *(each(elsewhere) for each in theirs)]
            results += await asyncio.gather(*running, return_exceptions=True)
            if asyncio.get_running_loop().time() > ends_at:
                break
    async with storage.opened(postgres_url, patient=True) as store:
        assert await store.read(books.run) == []

    outages = (errors.StorageUnavailable, errors.OutcomeUnknown, errors.Overloaded)
    unexpected = [each for each in results if isinstance(each, outages) or not isinstance(each, ServiceError | None)]
    counted = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"
    async with postgres.connected(postgres_url) as connection:
        deadlocks = await connection.fetchval(counted)
    assert (unexpected, deadlocks) == ([], 0)
