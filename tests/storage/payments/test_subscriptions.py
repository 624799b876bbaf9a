"""What a shop's account really sends, on both databases: trials, coupons, pauses, plan changes, slow payments."""

from datetime import timedelta
from typing import Any

from storage.checks import books
from storage.payments.processing import EventOutcome
from storage.tables import commissions, customers, payment_customers, sales
from tests import stripe_events as stripe
from tests.storage.payments.paying import named, take
from tests.world import NOW, World, stored

MONTH = timedelta(days=30)


def subscribed(metadata: dict[str, str], **changed: Any) -> dict[str, Any]:
    """Return the checkout of a subscription whose first invoice is in_1."""
    about = {"mode": "subscription", "invoice": "in_1", "payment_intent": None, "subscription": "sub_1"}
    return stripe.checkout(metadata=metadata, **about | changed)


def free(metadata: dict[str, str]) -> dict[str, Any]:
    """Return the checkout of a trial, or with a coupon of 100 %: nothing is paid."""
    return subscribed(metadata, amount_total=0, payment_status="no_payment_required")


def renewal(number: int, **about: Any) -> dict[str, Any]:
    """Return the invoice of a later month, which names no customer unless `metadata` does."""
    name = f"in_{number}"
    return stripe.invoice(f"evt_{name}", name=name, renewal=True, **{"at": NOW + (number - 1) * MONTH} | about)


async def outcomes(acme: World, *events: dict[str, Any]) -> list[str]:
    return [(await take(acme, event)).outcome for event in events]


async def test_a_trial_is_a_sale_once_it_is_paid_and_each_renewal_after_it(acme: World):
    metadata = await named(acme)
    free_invoice = stripe.invoice(amount=0, metadata=metadata)

    done = await outcomes(acme, free(metadata), free_invoice, renewal(2, metadata=metadata), renewal(3))

    assert done == ["linked", "ignored", "recorded", "recorded"]
    assert await stored(acme, sales.c.transaction_id) == [("in_2",), ("in_3",)]
    assert await stored(acme, commissions.c.partner_id) == [(acme.anna,), (acme.anna,)]
    assert await acme.store.read(books.run) == []


async def test_a_trial_whose_metadata_is_on_the_session_alone_is_found_by_its_processor_customer(acme: World):
    done = await outcomes(acme, free(await named(acme)), stripe.invoice(amount=0), renewal(2))

    assert done == ["linked", "ignored", "recorded"]


async def test_a_payment_that_overtakes_its_trials_checkout_is_recorded_with_it(acme: World):
    done = await outcomes(acme, renewal(2), free(await named(acme)))

    assert done == ["waiting", "linked"]
    assert await stored(acme, sales.c.transaction_id) == [("in_2",)]


async def test_a_trial_alone_creates_no_customer_and_one_that_names_an_unknown_click_links_nobody(acme: World):
    unknown = await outcomes(acme, free({"svc_click_id": "nonsense"}))
    linked = await stored(acme, payment_customers.c.click_id)
    await take(acme, {**free(await named(acme)), "id": "evt_2"})

    assert (unknown, linked) == (["ignored"], [])
    assert len(await stored(acme, payment_customers.c.click_id)) == 1
    assert await stored(acme, customers.c.id) == []


async def test_a_paused_subscription_earns_again_when_it_resumes(acme: World):
    kinds = ("customer.subscription.paused", "invoice.marked_uncollectible", "customer.subscription.resumed")
    about = {"id": "sub_1", "customer": "cus_1"}
    between = [stripe.event(kind, about, event_id=f"evt_{number}") for number, kind in enumerate(kinds)]

    done = await outcomes(acme, stripe.invoice(metadata=await named(acme)), *between, renewal(4))

    assert done == ["recorded", "ignored", "ignored", "ignored", "recorded"]


async def test_a_plan_change_is_a_sale_of_the_prorated_difference(acme: World):
    changed: dict[str, Any] = {"billing_reason": "subscription_update"}
    upgraded = stripe.invoice("evt_2", name="in_2", amount=3_300, **changed)
    downgraded = stripe.invoice("evt_3", name="in_3", amount=0, total=-1_200, **changed)

    done = await outcomes(acme, stripe.invoice(metadata=await named(acme)), upgraded, downgraded)

    assert done == ["recorded", "recorded", "ignored"]
    assert await stored(acme, sales.c.amount_cents) == [(10_000,), (3_300,)]


async def test_a_one_off_payment_beside_a_subscription_is_a_sale_of_its_own(acme: World):
    metadata = await named(acme)
    one_off = stripe.checkout("evt_2", id="cs_live_2", payment_intent="pi_setup", amount=2_500)

    done = await outcomes(acme, subscribed(metadata), stripe.invoice(metadata=metadata), one_off)

    assert done == ["recorded", "repeated", "recorded"]
    assert await stored(acme, sales.c.transaction_id, sales.c.amount_cents) == [("in_1", 10_000), ("pi_setup", 2_500)]


async def test_a_one_off_payment_with_an_invoice_is_one_sale(acme: World):
    metadata = await named(acme)
    paid = stripe.checkout(metadata=metadata, invoice="in_9", payment_intent="pi_9")
    manual = stripe.invoice("evt_2", name="in_9", billing_reason="manual", parent=None, payments=None)

    assert await outcomes(acme, manual, paid) == ["waiting", "recorded"]
    assert await stored(acme, sales.c.transaction_id) == [("in_9",)]


async def test_a_payment_that_settles_days_later_is_a_sale_then_and_one_that_fails_is_none(acme: World):
    metadata, later = await named(acme), NOW + timedelta(days=4)
    unpaid = stripe.checkout(metadata=metadata, payment_status="unpaid")
    failed = {**unpaid, "id": "evt_2", "type": "checkout.session.async_payment_failed"}
    settled = stripe.checkout("evt_3", metadata=metadata, at=later) | {
        "type": "checkout.session.async_payment_succeeded"
    }

    pending = await outcomes(acme, unpaid, failed)
    before = await stored(acme, sales.c.id)
    done = await take(acme, settled)

    assert (pending, before) == (["linked", "ignored"], [])
    assert done == EventOutcome("recorded", "pi_1")
    assert await stored(acme, sales.c.occurred_at) == [(later,)]


async def test_nothing_of_the_processors_test_mode_links_or_earns(acme: World):
    for event in (free(await named(acme)), {**subscribed(await named(acme)), "id": "evt_2"}):
        await take(acme, event | {"livemode": False})

    assert await stored(acme, payment_customers.c.click_id) == []
    assert await stored(acme, sales.c.id) == []
