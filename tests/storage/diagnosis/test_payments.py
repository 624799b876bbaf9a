"""Explanations of the payment processor's ids: recorded, waiting, organic, held or not a sale."""

from typing import Any

from storage.diagnosis.explanation import Explanation, explain
from tests import stripe_events as stripe
from tests.storage.payments.paying import named, take
from tests.world import NOW, World

UNKNOWN = {"svc_customer_key": "user_1", "svc_click_id": "a-click-of-nobody"}
IDS = ["in_1", "pi_in_1", "ch_in_1", "sub_1", "cs_live_1", "evt_invoice", "cus_1"]


async def explained(acme: World, **subject: str) -> Explanation:
    found: Explanation = await acme.store.read(explain, acme.program_id, **subject, at=NOW)
    return found


async def subscribe(acme: World, metadata: dict[str, str]) -> None:
    """Deliver a subscription's checkout and its first invoice."""
    about: dict[str, Any] = {"invoice": "in_1", "payment_intent": None, "subscription": "sub_1"}
    await take(acme, stripe.checkout(metadata=metadata, **about))
    await take(acme, stripe.invoice(metadata=metadata, old_shape=True))


async def test_every_id_of_a_recorded_payment_explains_its_sale(acme: World):
    await subscribe(acme, await named(acme))

    found = [await explained(acme, transaction_id=name) for name in IDS]

    assert [(each.outcome, each.transaction_id) for each in found] == [("credited", "in_1")] * len(IDS)


async def test_every_id_of_a_waiting_payment_says_that_it_waits_and_so_does_the_customer_whom_it_names(acme: World):
    await subscribe(acme, UNKNOWN)

    found = [await explained(acme, transaction_id=name) for name in IDS]
    customers = [await explained(acme, customer_key="user_1"), await explained(acme, click_id="a-click-of-nobody")]

    assert [each.outcome for each in (*found, *customers)] == ["payment_waiting"] * (len(IDS) + 2)
    assert {each.payment_event_id for each in found} <= {"evt_checkout", "evt_invoice"}
    assert all("Try again" in str(each.smallest_change) for each in found)


async def test_a_waiting_payment_names_the_key_of_the_lead_that_was_likely_meant(acme: World):
    await acme.customer("USER_1")
    await take(acme, stripe.checkout(metadata={"svc_customer_key": "user_1"}))

    found = await explained(acme, transaction_id="pi_1")

    assert (found.outcome, found.likely_customer_key) == ("payment_waiting", "USER_1")
    assert '"USER_1"' in str(found.smallest_change)


async def test_what_is_no_sale_says_what_it_is(acme: World):
    await take(acme, stripe.invoice("evt_0", name="in_0", amount=0))
    await take(acme, stripe.invoice("evt_1", name="in_1"))
    await take(acme, stripe.charge_refunded("evt_2", total=5, intent="pi_2"))
    await take(acme, stripe.checkout("evt_3", id="cs_3", payment_intent="pi_3") | {"livemode": False})
    metadata = await named(acme)
    await take(acme, stripe.checkout("evt_4", id="cs_4", payment_intent="pi_4", metadata=metadata, currency="xof"))

    ids = ("in_0", "in_1", "ch_pi_2", "cs_3", "cs_4")
    verdicts = [(await explained(acme, transaction_id=name)).outcome for name in ids]

    no_sales = ["payment_not_a_sale", "payment_organic", "payment_missing", "only_a_test"]
    assert verdicts == [*no_sales, "currency_not_supported"]


async def test_a_possible_duplicate_is_explained_as_held(acme: World):
    await acme.customer("user-1")
    await acme.sale("order-1")
    await take(acme, stripe.checkout(metadata={"svc_customer_key": "user-1"}))

    found = await explained(acme, transaction_id="pi_1")

    assert (found.outcome, found.steps[0].state) == ("payment_held", "pass")
