"""Payments that may be sales of the API, on both databases: held, decided by an owner, and never paid twice."""

import asyncio
from datetime import timedelta

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection, create_async_engine

import storage
from storage.checks import books
from storage.engine.audit import Actor
from storage.payments import decisions, processing
from storage.payments.decisions import Decision
from storage.payments.processing import EventOutcome
from storage.payments.stripe import parse_event
from storage.rules.errors import DuplicateTransaction, NotFound, ValidationError
from storage.tables import payment_events, sales
from tests import stripe_events as stripe
from tests import world
from tests.storage.payments.paying import connect, take
from tests.world import NOW, World, stored

OWNER = Actor("user", "1", "owner@acme.example")
ON_EACH_NODE = text("SELECT coalesce(to_regclass('citus_stat_activity'), 'pg_stat_activity')::text")


async def test_a_possible_duplicate_of_an_api_sale_is_held_and_paid_once_and_two_api_sales_are_two(acme: World):
    await connect(acme)
    await acme.customer()
    await acme.sale("order-7")
    await acme.sale("order-8")
    named_there = {"svc_customer_key": "user-1"}

    done = await take(acme, stripe.checkout(metadata=named_there, at=NOW + timedelta(minutes=5)))

    assert done.outcome == "held_as_duplicate"
    assert len(await stored(acme, sales.c.id)) == 2


async def held(acme: World, transaction_id: str = "order-7") -> int:
    """Let a checkout be held beside a sale of the API's; return its id."""
    await acme.customer()
    await acme.sale(transaction_id)
    await take(acme, stripe.checkout(metadata={"svc_customer_key": "user-1"}))
    ((event_id,),) = await stored(acme, payment_events.c.id)
    return int(event_id)


async def decide(acme: World, event_id: int, decision: Decision) -> None:
    await acme.store.write(decisions.decide, acme.program_id, event_id, decision, actor=OWNER, at=NOW)


async def test_refunds_of_a_held_payment_apply_to_the_same_sale(acme: World):
    event_id = await held(acme)
    await take(acme, stripe.charge_refunded(total=2_500))

    await decide(acme, event_id, Decision.SAME)
    await take(acme, stripe.refund_updated("evt_more", amount=4_000, name="re_2"))
    again = await take(acme, stripe.checkout("evt_again"))

    assert again == EventOutcome("repeated", "order-7")
    assert await stored(acme, sales.c.transaction_id, sales.c.refunded_cents) == [("order-7", 4_000)]
    assert await acme.store.read(books.run) == []


async def test_a_held_payment_that_is_counted_is_a_separate_sale(acme: World):
    event_id = await held(acme)

    await decide(acme, event_id, Decision.COUNT)

    assert sorted(await stored(acme, sales.c.transaction_id)) == [("order-7",), ("pi_1",)]
    with pytest.raises(ValidationError):
        await decide(acme, event_id, Decision.COUNT)


async def test_a_held_payment_with_the_same_transaction_id_cannot_be_counted(acme: World):
    event_id = await held(acme, "pi_1")

    with pytest.raises(DuplicateTransaction):
        await decide(acme, event_id, Decision.COUNT)
    await decide(acme, event_id, Decision.SAME)

    assert await stored(acme, payment_events.c.outcome) == [("same_sale",)]
    with pytest.raises(NotFound):
        await decide(acme, 12, Decision.SAME)


async def test_an_api_sale_that_a_payment_reported_is_rejected_and_names_the_payment(acme: World):
    await connect(acme)
    await acme.customer()
    await take(acme, stripe.checkout(metadata={"svc_customer_key": "user-1"}))

    with pytest.raises(DuplicateTransaction, match="as pi_1"):
        await acme.sale("order-7", at=NOW + timedelta(minutes=9))
    with pytest.raises(DuplicateTransaction, match="already recorded"):
        await acme.sale("pi_1")
    await acme.sale("order-8", 9_999, at=NOW + timedelta(minutes=9))
    await acme.sale("order-9", at=NOW + timedelta(minutes=11))

    assert sorted(await stored(acme, sales.c.transaction_id)) == [("order-8",), ("order-9",), ("pi_1",)]


async def test_a_sale_of_the_api_waits_for_the_event_that_another_process_is_taking(postgres_url: str):
    async with storage.opened(postgres_url) as store:
        acme = await world.acme(store)
        await connect(acme)
        await acme.customer()
        await acme.sale("inv-1", at=NOW - timedelta(days=1))
        event = parse_event(stripe.checkout(metadata={"svc_customer_key": "user-1"}))
        engine = create_async_engine(postgres_url)
        async with engine.connect() as taking, engine.connect() as watching:
            await taking.run_sync(lambda connection: processing.process(connection, acme.program_id, event, at=NOW))
            selling = asyncio.create_task(acme.sale("order-7"))
            await waits_for_a_lock(watching)
            await taking.commit()
            with pytest.raises(DuplicateTransaction, match="as pi_1"):
                await selling
        await engine.dispose()


async def waits_for_a_lock(watching: AsyncConnection) -> None:
    """Return as soon as somebody waits for what another transaction holds."""
    held = "wait_event_type = 'Lock' AND datname = current_database()"
    activity = (await watching.execute(ON_EACH_NODE)).scalar()
    waiting = text(f"SELECT count(*) FROM {activity} WHERE {held}")
    async with asyncio.timeout(15):
        while not (await watching.execute(waiting)).scalar():
            await watching.rollback()  # a transaction sees the activity of its first look
