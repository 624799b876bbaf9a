"""Payments that wait or may be sales of the API, on both databases: explained, decided by an owner, paid once."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy.ext.asyncio import create_async_engine

import background
import storage
from storage.engine import citus
from storage.payments import decisions, event_log, processing
from storage.payments.decisions import Decision
from storage.payments.processing import EventOutcome
from storage.payments.stripe import parse_event
from storage.rules.errors import CustomerNotFound, DuplicateTransaction, NotFound, TransactionNotFound, ValidationError
from storage.tables import payment_events, sales
from tests import postgres, world
from tests import stripe_events as stripe
from tests.needs import ON_CITUS
from tests.storage.payments.paying import connect, listed, take
from tests.world import NOW, World, stored

UNKNOWN = {"svc_customer_key": "user-1"}


async def decide(acme: World, decision: Decision, **named: Any) -> str:
    """Decide on the first event that the account sent."""
    [(event_id,), *_] = await stored(acme, payment_events.c.id)
    return str(await acme.do(decisions.decide, event_id, decision, **named))


async def recorded(acme: World) -> list[str]:
    return sorted(name for (name,) in await stored(acme, sales.c.transaction_id))


async def test_payments_are_sorted_by_whom_they_name_and_those_of_no_one_counted_with_all_that_belongs_to_them(
    acme: World,
):
    events = [
        stripe.checkout(invoice="in_1", payment_intent=None, customer=None),
        stripe.invoice(),
        stripe.invoice_payment(),
        stripe.charge_refunded(total=100, intent="pi_in_1"),
        stripe.invoice("evt_2", name="in_2"),
    ]
    for event in reversed(events):
        await take(acme, event)
    [counted] = await acme.store.read(event_log.count_outcomes, acme.program_id)
    assert (await listed(acme, "waiting"), counted[:3]) == ([], ("organic", 5, 2))

    await take(acme, stripe.invoice("evt_3", name="in_3", metadata=UNKNOWN))
    await take(acme, stripe.invoice("evt_4", name="in_4", metadata=UNKNOWN | {"svc_click_id": "nonsense"}))

    by_outcome = [await listed(acme, outcome) for outcome in ("waiting", "unknown_customer")]
    assert (by_outcome, len(await listed(acme, "organic"))) == ([["invoice.paid"]] * 2, 5)


async def test_waiting_payments_are_recorded_once_their_late_lead_is_there(
    acme: World, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(decisions, "AT_ONCE", 1)
    await connect(acme)
    await take(acme, stripe.invoice(metadata=UNKNOWN))
    await take(acme, stripe.invoice("evt_2", name="in_2", renewal=True))
    for number in (3, 4):
        named = {"svc_customer_key": f"user-{number}"}
        await take(acme, stripe.invoice(f"evt_{number}", name=f"in_{number}", customer=f"cus_{number}", metadata=named))
    before = await acme.store.write(decisions.record_late, acme.program_id, at=NOW)
    for key in ("user-1", "user-3"):
        await acme.customer(key)

    await background.keep_house(acme.store, at=NOW)
    again = await acme.store.write(decisions.record_late, acme.program_id, at=NOW)

    assert (before, again) == (0, 0)
    assert await recorded(acme) == ["in_1", "in_2", "in_3"]


async def test_an_owner_names_the_customer_of_an_organic_payment_once_and_its_renewals_follow(acme: World):
    await take(acme, stripe.invoice())
    await take(acme, stripe.invoice("evt_2", name="in_2", renewal=True))
    await acme.customer("user-1")

    assert await decide(acme, Decision.RETRY, customer_key="user-1") == "recorded"
    assert await recorded(acme) == ["in_1", "in_2"]
    for decision in Decision:  # a recorded payment is neither retried nor dismissed
        with pytest.raises(ValidationError):
            await decide(acme, decision)


async def test_a_dismissed_customers_later_payments_do_not_wait(acme: World):
    await take(acme, stripe.invoice(metadata=UNKNOWN))

    assert await decide(acme, Decision.DISMISS) == "not_referred"
    later = await take(acme, stripe.invoice("evt_2", name="in_2", metadata=UNKNOWN))
    other = await take(acme, stripe.invoice("evt_3", name="in_3", metadata={"svc_customer_key": "user-2"}))

    assert (later.outcome, other.outcome) == ("not_referred", "waiting")
    with pytest.raises(CustomerNotFound):
        await decide(acme, Decision.RETRY)
    await acme.customer("user-1")
    assert await decide(acme, Decision.RETRY) == "recorded"


async def test_a_refund_of_a_payment_from_before_the_account_was_connected_is_named_or_dismissed(acme: World):
    await acme.customer()
    await acme.sale("order-1", 10_000)
    await take(acme, stripe.charge_refunded(total=2_500, intent="pi_old"))
    await take(acme, stripe.dispute(intent="pi_old", amount=1_000))
    with pytest.raises(TransactionNotFound):
        await decide(acme, Decision.REFUND, transaction_id="order-2")
    with pytest.raises(ValidationError):
        await decide(acme, Decision.RETRY)

    assert await decide(acme, Decision.DISMISS) == "not_referred"
    assert await decide(acme, Decision.REFUND, transaction_id="order-1") == "recorded"

    assert await listed(acme, "waiting") == []
    assert await stored(acme, sales.c.refunded_cents) == [(3_500,)]
    later = await take(acme, stripe.charge_refunded("evt_later", total=4_000, intent="pi_old"))
    assert (later.outcome, later.transaction_id) == ("recorded", "order-1")


async def held(acme: World, transaction_id: str = "order-7") -> None:
    """Let a checkout be held beside a sale of the API's."""
    await acme.customer()
    await acme.sale(transaction_id)
    await take(acme, stripe.checkout(metadata=UNKNOWN))


async def test_refunds_of_a_held_payment_apply_to_the_same_sale(acme: World):
    await held(acme)
    await take(acme, stripe.charge_refunded(total=2_500))

    await decide(acme, Decision.SAME)
    await take(acme, stripe.refund_updated("evt_more", amount=4_000, name="re_2"))
    again = await take(acme, stripe.checkout("evt_again"))

    assert again == EventOutcome("repeated", "order-7")
    assert await stored(acme, sales.c.transaction_id, sales.c.refunded_cents) == [("order-7", 4_000)]


async def test_a_held_payment_with_the_same_transaction_id_cannot_be_counted(acme: World):
    await held(acme, "pi_1")

    with pytest.raises(DuplicateTransaction):
        await decide(acme, Decision.COUNT)
    await decide(acme, Decision.SAME)

    assert await stored(acme, payment_events.c.outcome) == [("same_sale",)]
    with pytest.raises(NotFound):
        await acme.do(decisions.decide, 12, Decision.SAME)


async def test_a_sale_of_the_api_waits_for_the_event_that_another_process_is_taking(postgres_url: str):
    async with storage.opened(postgres_url) as store:
        acme = await world.acme(store)
        await connect(acme)
        await acme.customer()
        await acme.sale("inv-1", at=NOW - timedelta(days=1))
        event = parse_event(stripe.checkout(metadata=UNKNOWN))
        engine = create_async_engine(postgres_url)
        async with engine.connect() as taking:
            await taking.execution_options(**{citus.DISTRIBUTED: ON_CITUS})
            await taking.run_sync(lambda connection: processing.process(connection, acme.program_id, event, at=NOW))
            selling = asyncio.create_task(acme.sale("order-7"))
            await postgres.until_blocked(postgres_url)
            await taking.commit()
            assert (await selling).possibly_repeats == "pi_1"
        await engine.dispose()
