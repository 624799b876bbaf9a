"""Payments as a shop's account really sends them, on both databases: each event once, in any order."""

from datetime import timedelta
from typing import Any

import pytest

from storage.management import coupons
from storage.payments import decisions
from storage.payments.processing import EventOutcome
from storage.tables import commissions, customers, ledger_entries, payment_customers, payment_events, rollups, sales
from storage.tables import test_events as tests_of_processor
from storage.tracking import currencies
from tests import stripe_events as stripe
from tests.storage.payments.paying import named, take
from tests.tables import table
from tests.world import NOW, World, stored


def subscribed(metadata: dict[str, str], **changed: Any) -> dict[str, Any]:
    """Return the checkout of a subscription whose first invoice is in_1."""
    about = {"mode": "subscription", "invoice": "in_1", "payment_intent": None, "subscription": "sub_1"}
    return stripe.checkout(metadata=metadata, **about | changed)


def free(metadata: dict[str, str]) -> dict[str, Any]:
    """Return the checkout of a trial, or with a coupon of 100 %: nothing is paid."""
    return subscribed(metadata, amount_total=0, payment_status="no_payment_required")


def renewal(number: int, **about: Any) -> dict[str, Any]:
    """Return the invoice of a later month, which names no customer unless `metadata` does."""
    at = NOW + (number - 1) * timedelta(days=30)
    return stripe.invoice(f"evt_in_{number}", name=f"in_{number}", renewal=True, at=at, **about)


async def outcomes(acme: World, *events: dict[str, Any]) -> list[str]:
    return [(await take(acme, event)).outcome for event in events]


@pytest.mark.parametrize(
    ("bought_cents", "outcome", "sold"),
    [(None, "recorded", 1), (4_900, "recorded", 2), (10_000, "held_as_duplicate", 1)],
)
async def test_a_payment_settles_the_lead_with_its_key(acme: World, bought_cents: int | None, outcome: str, sold: int):
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
    trial = {**free(metadata), "id": "evt_2"}
    events = [stripe.checkout(metadata=metadata), stripe.charge_refunded(total=100), trial]

    done = await outcomes(acme, *(event | {"livemode": False} for event in events))

    assert done == ["test", "test", "ignored"]
    row = tests_of_processor.c
    tests = await stored(acme, row.kind, row.transaction_id, row.is_test)
    assert tests[:2] == [("sale", "pi_1", True), ("refund", "pi_1", True)]
    for rows in (sales, commissions, ledger_entries, customers, payment_customers):
        assert await stored(acme, rows.c.program_id) == []


async def test_an_event_that_is_not_a_sale_of_the_program_says_why(acme: World):
    other = await acme.beside()
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

    for n, (metadata, changed, outcome) in enumerate(sent):
        ids: Any = {"payment_intent": f"pi_{n}", "id": f"cs_{n}", "customer": f"cus_{n}"}
        event = stripe.checkout(f"evt_{n}", metadata=metadata, **ids, **changed)
        assert (await take(acme, event)).outcome == outcome, n
    assert set(await stored(acme, payment_events.c.outcome)) >= {("sale_before_click",), ("currency_not_supported",)}
    assert await stored(acme, sales.c.id) == []


async def test_an_amount_without_minor_units_is_unchanged(acme: World):
    await acme.store.write(currencies.load, [(NOW.date(), "USD", "1.25"), (NOW.date(), "JPY", "160")])

    taxed: dict[str, Any] = {"total_details": {"amount_tax": 320, "amount_shipping": 0}}
    await take(acme, stripe.checkout(metadata=await named(acme), amount=1_600, currency="jpy", **taxed))

    assert await stored(acme, sales.c.amount_cents, sales.c.currency, sales.c.program_cents) == [(1_600, "JPY", 1_250)]
    assert await stored(acme, commissions.c.amount_cents) == [(200,)]  # 20 % of 1,280 yen


HISTORIES: list[Any] = table("storage/payments/histories.json")
MADE: dict[str, Any] = {**vars(stripe), "free": free, "renewal": renewal, "subscribed": subscribed}


@pytest.mark.parametrize("history", HISTORIES, ids=[each["what"] for each in HISTORIES])
async def test_what_an_account_sends_ends_in_its_sales(acme: World, history: dict[str, Any]):
    metadata = await named(acme)
    events = [
        MADE[kind](**about | ({"metadata": metadata} if "metadata" in about else {}))
        for kind, about in history["events"]
    ]

    assert await outcomes(acme, *events) == history["outcomes"]
    await acme.store.write(decisions.record_late, acme.program_id, at=NOW + timedelta(minutes=20))

    sold = history["sales"]
    assert await stored(acme, sales.c.transaction_id, sales.c.amount_cents) == list(sold.items())
    assert await stored(acme, commissions.c.partner_id) == [(acme.anna,)] * len(sold)


async def test_a_trial_alone_creates_no_customer_and_one_that_names_an_unknown_click_links_nobody(acme: World):
    unknown = await outcomes(acme, free({"svc_click_id": "nonsense"}))
    linked = await stored(acme, payment_customers.c.click_id)
    await take(acme, {**free(await named(acme)), "id": "evt_2"})

    assert (unknown, linked) == (["ignored"], [])
    assert len(await stored(acme, payment_customers.c.click_id)) == 1
    assert await stored(acme, customers.c.id) == []


async def test_a_payment_that_settles_days_later_is_a_sale_then_and_one_that_fails_is_none(acme: World):
    metadata, later = await named(acme), NOW + timedelta(days=4)
    unpaid = stripe.checkout(metadata=metadata, payment_status="unpaid")
    failed = {**unpaid, "id": "evt_2", "type": "checkout.session.async_payment_failed"}
    settled = stripe.checkout("evt_3", metadata=metadata, at=later)

    pending = await outcomes(acme, unpaid, failed)
    before = await stored(acme, sales.c.id)
    done = await take(acme, settled | {"type": "checkout.session.async_payment_succeeded"})

    assert (pending, before) == (["linked", "ignored"], [])
    assert done == EventOutcome("recorded", "pi_1")
    assert await stored(acme, sales.c.occurred_at) == [(later,)]


@pytest.mark.parametrize(
    ("metadata", "changed", "outcome"),
    [
        ({"svc_coupon": "spring20", "svc_customer_key": "jane"}, {}, "recorded"),
        ({}, {"discounts": [{"coupon": None, "promotion_code": "promo_1"}]}, "recorded"),
        ({}, {"discounts": ["di_1", {"promotion_code": {"id": "promo_2", "code": "Spring20"}}]}, "recorded"),
        ({}, {"discount": {"promotion_code": "promo_2"}}, "waiting"),
    ],
)
async def test_a_payment_by_a_customer_without_a_click_is_its_coupons_partners(
    acme: World, metadata: dict[str, str], changed: dict[str, Any], outcome: str
):
    for code in ("SPRING20", "promo_1"):
        await acme.do(coupons.create, partner_id=acme.ben, code=code)

    done = await take(acme, stripe.checkout(metadata=metadata, **changed))

    assert done.outcome == outcome
    assert [partner for (partner,) in await stored(acme, sales.c.partner_id)] == [acme.ben] * (outcome == "recorded")
    if metadata:
        renewed = await take(acme, stripe.invoice("evt_2", name="in_2", metadata={"svc_customer_key": "jane"}))
        assert renewed.outcome == "recorded"
