"""Payments find their sales on each database: by name, by reference, by who paid; and nobody else's."""

from datetime import timedelta
from typing import Any

from storage.payments import reconciliation
from storage.payments.reconciliation import Reconciled
from storage.rules.reconciliation import Code, Payment, RecordSale, SettleLead
from tests import stripe_events as stripe
from tests import world
from tests.storage.payments.paying import named, take
from tests.world import NOW, World

PAID = Payment(2, ("in_1", "pi_1", "ch_1"), 10_000, 0, "USD", NOW, processor_customer="cus_1")


async def reconcile(acme: World, *payments: Payment, at: Any = NOW) -> Reconciled:
    return await acme.store.read(reconciliation.compare, acme.program_id, payments, at=at)


def codes(found: Reconciled) -> list[Code]:
    return [finding.code for finding in found.findings]


async def test_a_payment_is_found_by_any_id_in_its_events(acme: World):
    await take(acme, stripe.checkout(metadata=await named(acme)))

    by_intent = await reconcile(acme, PAID._replace(names=("pi_1",)))
    by_session = await reconcile(acme, PAID._replace(names=("cs_live_1",)))
    refunded = await reconcile(acme, PAID._replace(names=("pi_1",), returned_cents=1_000))

    assert (by_intent.findings, by_session.findings) == ([], [])
    assert codes(refunded) == [Code.REFUND_MISSING]


async def test_the_processors_customer_names_who_paid_again(acme: World):
    await take(acme, stripe.checkout(metadata=await named(acme)))
    later = NOW + timedelta(days=30)
    renewal = Payment(3, ("in_2",), 10_000, 0, "USD", later, processor_customer="cus_1")

    found = await reconcile(acme, renewal, renewal._replace(line=4, processor_customer="cus_2"), at=later)

    assert codes(found) == [Code.RENEWAL_NOT_REPORTED]
    assert found.unattributed == 1
    (correction,) = found.findings[0].corrections
    assert isinstance(correction, RecordSale)
    assert correction.transaction_id == "in_2"


async def test_the_click_of_the_metadata_outranks_the_key(acme: World):
    await acme.customer("user-1")
    click_id = await acme.visitor()
    await acme.lead(click_id, "user-2")

    found = await reconcile(acme, PAID._replace(click_id=click_id, customer_key="user-1"))

    assert codes(found) == [Code.MISSING]
    (correction,) = found.findings[0].corrections
    assert isinstance(correction, SettleLead | RecordSale)
    assert correction.click_id == click_id


async def test_a_sale_with_the_shops_own_id_is_the_payment_if_similar_and_near(acme: World):
    await acme.customer("user-1")
    await acme.sale("order-1")
    paid = PAID._replace(customer_key="user-1")

    near, far = [await reconcile(acme, paid._replace(occurred_at=NOW + timedelta(minutes=late))) for late in (10, 11)]

    assert (codes(near), codes(far)) == ([], [Code.RENEWAL_NOT_REPORTED])


async def test_another_programs_sales_and_customers_are_not_read(acme: World):
    await acme.customer("user-1")
    await acme.sale("in_1")
    other = await world.program_of(acme.store, acme.workspace_id, acme.owner_id)

    found = await reconcile(other, PAID._replace(customer_key="user-1"))

    assert (found.findings, found.unattributed) == ([], 1)
