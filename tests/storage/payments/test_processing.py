"""Payments, on both databases: each event once, in any order."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from storage.checks import books
from storage.payments.processing import EventOutcome
from storage.tables import commissions, customers, ledger_entries, payment_events, rollups, sales, test_events
from storage.tracking import currencies
from tests import stripe_events as stripe
from tests import world
from tests.storage.payments.paying import named, take
from tests.world import NOW, World, stored

CLICKED = {"svc_click_id": "of a visitor of Anna's"}
LATER = NOW + timedelta(days=30)


async def test_a_checkout_is_a_sale_of_the_visitor_whom_its_click_names(acme: World):
    done = await take(acme, stripe.checkout(metadata=await named(acme)))

    assert done == EventOutcome("recorded", "pi_1")
    assert await stored(acme, sales.c.transaction_id, sales.c.amount_cents, sales.c.currency) == [
        ("pi_1", 10_000, "USD")
    ]
    assert await stored(acme, commissions.c.amount_cents) == [(2_000,)]
    assert await acme.store.read(books.run) == []


async def test_a_payment_settles_a_provisional_lead_and_saves_the_key(acme: World):
    click_id = await acme.visitor()
    await acme.lead(click_id, "user-1", is_trusted=False, program_id=acme.program_id)

    await take(acme, stripe.checkout(metadata={"svc_click_id": click_id, "svc_customer_key": "user-1"}))

    customer = customers.c
    assert await stored(acme, customer.settlement, customer.status, customer.customer_key) == [
        ("settled", "conversion", "user-1")
    ]
    assert await stored(acme, rollups.c.leads, rollups.c.conversions, rollups.c.sales) == [(1, 1, 1)]


async def test_a_payment_settles_the_lead_of_a_customer_who_bought_through_the_api_first(acme: World):
    click_id = await acme.visitor()
    await acme.lead(click_id, is_trusted=False, program_id=acme.program_id)
    await acme.sale("order-1", 4_900, click_id=click_id)

    done = await take(acme, stripe.checkout(metadata={"svc_click_id": click_id, "svc_customer_key": "user-1"}))

    customer = customers.c
    assert done == EventOutcome("recorded", "pi_1")
    assert await stored(acme, customer.settlement, customer.status, customer.customer_key) == [
        ("settled", "conversion", "user-1")
    ]
    assert await stored(acme, rollups.c.leads, rollups.c.conversions, rollups.c.sales) == [(1, 1, 2)]
    assert await acme.store.read(books.run) == []


async def test_a_held_payment_settles_the_lead(acme: World):
    click_id = await acme.visitor()
    await acme.lead(click_id, is_trusted=False, program_id=acme.program_id)
    await acme.sale("order-1", click_id=click_id)

    done = await take(acme, stripe.checkout(metadata={"svc_click_id": click_id}))

    assert done.outcome == "held_as_duplicate"
    assert await stored(acme, customers.c.settlement) == [("settled",)]


async def test_a_payment_that_names_another_customers_key_settles_the_lead_without_it(acme: World):
    await acme.customer("user-1")
    click_id = await acme.visitor("ben")
    await acme.lead(click_id, is_trusted=False, program_id=acme.program_id)

    done = await take(acme, stripe.checkout(metadata={"svc_click_id": click_id, "svc_customer_key": "user-1"}))

    assert done == EventOutcome("recorded", "pi_1")
    customer = customers.c
    assert await stored(acme, customer.settlement, customer.customer_key) == [("settled", "user-1"), ("settled", None)]


async def test_a_payment_before_the_click_is_explained_and_earns_nothing(acme: World):
    done = await take(acme, stripe.checkout(metadata=await named(acme), at=NOW - timedelta(days=1)))

    assert done == EventOutcome("sale_before_click", "pi_1")
    assert await stored(acme, payment_events.c.outcome) == [("sale_before_click",)]
    assert await stored(acme, commissions.c.id) == []


async def test_the_first_payment_after_a_trial_is_recorded(acme: World):
    done = await take(acme, stripe.invoice(metadata=await named(acme), renewal=True))

    assert done == EventOutcome("recorded", "in_1")


async def test_the_processors_test_mode_earns_nothing_and_changes_no_customer(acme: World):
    metadata = await named(acme, svc_customer_key="user-1")
    back = stripe.charge_refunded(total=100)

    paid = await take(acme, stripe.checkout(metadata=metadata) | {"livemode": False})
    returned = await take(acme, back | {"livemode": False})

    assert (paid.outcome, returned.outcome) == ("test", "test")
    tests = await stored(acme, test_events.c.kind, test_events.c.transaction_id, test_events.c.is_test)
    assert tests == [("sale", "pi_1", True), ("refund", "pi_1", True)]
    for table in (sales, commissions, ledger_entries, customers):
        assert await stored(acme, table.c.program_id) == []


async def test_an_event_counts_once_however_often_it_is_delivered(acme: World):
    event = stripe.checkout(metadata=await named(acme))

    answers = await asyncio.gather(*(take(acme, event) for _ in range(5)))

    assert sorted(answer.outcome for answer in answers) == ["recorded"] + ["repeated"] * 4
    assert len(await stored(acme, sales.c.id)) == 1


@pytest.mark.parametrize("old_shape", [True, False])
@pytest.mark.parametrize("invoice_first", [True, False])
async def test_a_first_invoice_and_its_checkout_are_one_sale(acme: World, old_shape: bool, invoice_first: bool):  # noqa: FBT001 - the cases
    metadata = await named(acme)
    events = [
        stripe.checkout(metadata=metadata, mode="subscription", invoice="in_1", payment_intent=None),
        stripe.invoice(old_shape=old_shape),
    ]

    for event in reversed(events) if invoice_first else events:
        await take(acme, event)

    assert await stored(acme, sales.c.transaction_id) == [("in_1",)]
    assert await stored(acme, ledger_entries.c.amount_cents) == [(2_000,)]


async def test_a_renewal_credits_the_partner_who_sent_the_customer(acme: World):
    await take(acme, stripe.invoice(metadata=await named(acme)))

    done = await take(acme, stripe.invoice("evt_2", name="in_2", renewal=True, at=LATER))

    assert done == EventOutcome("recorded", "in_2")
    assert await stored(acme, commissions.c.partner_id) == [(acme.anna,), (acme.anna,)]


async def test_a_renewal_that_arrives_before_the_first_payment_waits_for_it(acme: World):
    early = await take(acme, stripe.invoice("evt_2", name="in_2", renewal=True, at=LATER))

    await take(acme, stripe.invoice(metadata=await named(acme)))

    assert early == EventOutcome("waiting", "in_2", "cus_1")
    assert sorted(await stored(acme, sales.c.transaction_id)) == [("in_1",), ("in_2",)]
    assert set(await stored(acme, payment_events.c.outcome)) == {("recorded",)}


@pytest.mark.parametrize(
    ("metadata", "changed", "outcome"),
    [
        ({}, {"amount_total": 0}, "ignored"),
        ({}, {"payment_status": "unpaid"}, "ignored"),
        ({"program_id": "999"}, {}, "ignored"),
        ({}, {"customer": None}, "waiting"),
        ({"svc_click_id": "nonsense", "svc_customer_key": "nobody"}, {}, "waiting"),
        (CLICKED, {"currency": "xof"}, "currency_not_supported"),
    ],
)
async def test_an_event_that_is_not_a_sale_of_the_program_says_why(
    acme: World, metadata: dict[str, str], changed: dict[str, Any], outcome: str
):
    sent = {"svc_click_id": await acme.visitor()} if metadata == CLICKED else metadata

    done = await take(acme, stripe.checkout(metadata=sent, **changed))

    assert done.outcome == outcome
    assert await stored(acme, sales.c.id) == []


async def test_another_programs_click_finds_no_customer(acme: World):
    other = await world.program_of(acme.store, acme.workspace_id, acme.owner_id)

    done = await take(acme, stripe.checkout(metadata={"svc_click_id": await other.visitor()}))

    assert done.outcome == "waiting"


async def test_an_amount_without_minor_units_is_unchanged(acme: World):
    await acme.store.write(currencies.load, [(NOW.date(), "USD", "1.25"), (NOW.date(), "JPY", "160")])

    await take(acme, stripe.checkout(metadata=await named(acme), amount=1_600, currency="jpy"))

    assert await stored(acme, sales.c.amount_cents, sales.c.currency, sales.c.program_cents) == [(1_600, "JPY", 1_250)]
