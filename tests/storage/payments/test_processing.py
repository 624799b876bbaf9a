"""Payments, on both databases: each event once, in any order."""

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


async def test_a_checkout_is_a_sale_of_the_visitor_whom_its_click_names(acme: World):
    done = await take(acme, stripe.checkout(metadata=await named(acme)))

    assert done == EventOutcome("recorded", "pi_1")
    assert await stored(acme, sales.c.transaction_id, sales.c.amount_cents, sales.c.currency) == [
        ("pi_1", 10_000, "USD")
    ]
    assert await stored(acme, commissions.c.amount_cents) == [(2_000,)]
    assert await acme.store.read(books.run) == []


@pytest.mark.parametrize(
    ("bought_cents", "outcome", "sold"),
    [(None, "recorded", 1), (4_900, "recorded", 2), (10_000, "held_as_duplicate", 1)],
)
async def test_a_payment_settles_the_lead_and_saves_the_key_also_after_a_sale_through_the_api(
    acme: World, bought_cents: int | None, outcome: str, sold: int
):
    click_id = await acme.visitor()
    await acme.lead(click_id, is_trusted=False, program_id=acme.program_id)
    if bought_cents:
        await acme.sale("order-1", bought_cents, click_id=click_id)

    done = await take(acme, stripe.checkout(metadata={"svc_click_id": click_id, "svc_customer_key": "user-1"}))

    customer = customers.c
    assert done.outcome == outcome
    assert await stored(acme, customer.settlement, customer.status, customer.customer_key) == [
        ("settled", "conversion", "user-1")
    ]
    assert await stored(acme, rollups.c.leads, rollups.c.conversions, rollups.c.sales) == [(1, 1, sold)]
    assert await acme.store.read(books.run) == []


async def test_a_payment_that_names_another_customers_key_settles_the_lead_without_it(acme: World):
    await acme.customer("user-1")
    click_id = await acme.visitor("ben")
    await acme.lead(click_id, is_trusted=False, program_id=acme.program_id)

    done = await take(acme, stripe.checkout(metadata={"svc_click_id": click_id, "svc_customer_key": "user-1"}))

    assert done == EventOutcome("recorded", "pi_1")
    customer = customers.c
    assert await stored(acme, customer.settlement, customer.customer_key) == [("settled", "user-1"), ("settled", None)]


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


async def test_a_first_invoice_and_its_checkout_are_one_sale(acme: World):
    about: dict[str, Any] = {"mode": "subscription", "invoice": "in_1", "payment_intent": None}

    await take(acme, stripe.checkout(metadata=await named(acme), **about))
    await take(acme, stripe.invoice(old_shape=True))

    assert await stored(acme, sales.c.transaction_id) == [("in_1",)]
    assert await stored(acme, ledger_entries.c.amount_cents) == [(2_000,)]


async def test_an_event_that_is_not_a_sale_of_the_program_says_why(acme: World):
    other = await world.program_of(acme.store, acme.workspace_id, acme.owner_id)
    mine, theirs = {"svc_click_id": await acme.visitor()}, {"svc_click_id": await other.visitor()}
    sent: list[tuple[dict[str, str], dict[str, Any], str]] = [
        ({}, {"amount_total": 0}, "ignored"),
        ({}, {"payment_status": "unpaid"}, "ignored"),
        ({"program_id": "999"}, {}, "ignored"),
        ({"svc_click_id": "nonsense", "svc_customer_key": "nobody"}, {}, "waiting"),
        (theirs, {}, "waiting"),
        (mine, {"currency": "xof"}, "currency_not_supported"),
        (mine, {"at": NOW - timedelta(days=1)}, "sale_before_click"),
    ]

    events = [
        stripe.checkout(
            f"evt_{n}", payment_intent=f"pi_{n}", id=f"cs_{n}", **{"customer": f"cus_{n}", **changed}, metadata=metadata
        )
        for n, (metadata, changed, _) in enumerate(sent)
    ]
    done = [(await take(acme, event)).outcome for event in events]

    assert done == [outcome for *_, outcome in sent]
    assert set(await stored(acme, payment_events.c.outcome)) >= {("sale_before_click",), ("currency_not_supported",)}
    assert await stored(acme, sales.c.id) == []


async def test_an_amount_without_minor_units_is_unchanged(acme: World):
    await acme.store.write(currencies.load, [(NOW.date(), "USD", "1.25"), (NOW.date(), "JPY", "160")])

    await take(acme, stripe.checkout(metadata=await named(acme), amount=1_600, currency="jpy"))

    assert await stored(acme, sales.c.amount_cents, sales.c.currency, sales.c.program_cents) == [(1_600, "JPY", 1_250)]
