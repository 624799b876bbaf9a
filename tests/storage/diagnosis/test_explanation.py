"""Explanations, of payments too: one outcome, nine steps, and terms that touch only what is earned after them."""

from datetime import timedelta
from typing import Any

import pytest

from storage.diagnosis.explanation import explain
from storage.diagnosis.facts import Subject
from storage.lists.customers import CUSTOMERS
from storage.rules import errors
from storage.rules.outcome import SaleOutcome, State
from tests import stripe_events as stripe
from tests.storage.payments.paying import named, take
from tests.world import NOW, World

CREDITED = SaleOutcome.CREDITED
STEPS = ["partner", "click", "window", "lead", "program", "rate", "hold", "refunds", "arithmetic"]


def facts(found: Any, step: str) -> Any:
    return next(each.facts for each in found.steps if each.step == step)


async def test_new_terms_price_only_what_is_earned_after_them_until_the_recurring_months_end(acme: World):
    await acme.customer()
    await acme.sale("inv-1")
    await acme.change(commission_rate=50)
    await acme.sale("inv-2")
    await acme.change(recurring_months=0)
    await acme.sale("inv-3", at=NOW + timedelta(days=40))

    found = [await acme.explain(transaction_id=f"inv-{n}") for n in (1, 2, 3)]

    assert [each.terms_version for each in found] == [1, 2, 3]
    assert [facts(each, "arithmetic")["net_cents"] for each in found[:2]] == [2_000, 5_000]
    assert [each.outcome for each in found] == [CREDITED, CREDITED, SaleOutcome.RECURRING_PERIOD_OVER]
    assert found[0].commission_id != found[1].commission_id


async def test_the_trace_has_every_step_in_order_a_credited_sale_needs_no_change_and_a_refund_is_in_the_arithmetic(
    acme: World,
):
    await acme.customer()
    await acme.reject(errors.CustomerNotFound(), customer_key="user-1", transaction_id="inv-1")
    await acme.sale(at=NOW + timedelta(hours=1))

    found = await acme.explain(customer_key="user-1")

    assert [step.step for step in found.steps] == STEPS
    assert {step.state.value for step in found.steps} == {"pass"}
    assert (found.outcome, found.smallest_change) == (CREDITED, None)
    assert len((await acme.explain(transaction_id="inv-1")).rejected_calls) == 1
    await acme.refund("inv-1", 2_500)

    found = await acme.explain(transaction_id="inv-1")

    assert found.outcome == SaleOutcome.CREDITED_IN_PART
    refunds = {"refunds": 1, "refunded_cents": 2_500, "remaining_cents": 7_500, "currency": "USD"}
    arithmetic = {"earned_cents": 2_000, "taken_back_cents": 500, "net_cents": 1_500}
    assert facts(found, "refunds") == refunds
    assert facts(found, "arithmetic").items() >= arithmetic.items()


async def test_a_rejected_sale_names_the_key_that_it_should_have_or_can_be_sent_again(acme: World):
    await acme.customer("user-17")
    await acme.reject(errors.CustomerNotFound(), customer_key="17", transaction_id="inv-9")
    await acme.reject(errors.CustomerNotFound(), customer_key="user-1", transaction_id="inv-1")
    await acme.customer("user-1")

    wrong, early = [await acme.explain(transaction_id=name) for name in ("inv-9", "inv-1")]

    assert wrong.smallest_change == 'Send customer_key "user-17", as at the lead, instead of "17".'
    assert (early.smallest_change or "").startswith("Send the same sale again")


@pytest.mark.parametrize("sent", ["customer_key", "click_id"])
async def test_a_rejected_sale_is_explained_with_the_customer_that_the_request_named(acme: World, sent: str):
    click_id = await acme.visitor()
    await acme.lead(click_id, "user-1")
    named = {"customer_key": "user-1", "click_id": click_id}[sent]
    await acme.reject(errors.CurrencyNotSupported(), transaction_id="inv-9", **{sent: named})

    found = await acme.explain(transaction_id="inv-9")

    assert found.outcome == errors.CurrencyNotSupported.code
    assert facts(found, "lead")["customer_key"] == "user-1"
    assert (facts(found, "click")["click_id"], facts(found, "partner")["code"]) == (click_id, "anna")


async def test_the_steps_of_a_customer_are_those_of_the_sale_that_the_outcome_names(acme: World):
    await acme.customer()
    await acme.sale("inv-1")
    recorded = await acme.explain(customer_key="user-1")
    later = NOW + timedelta(hours=1)
    await acme.reject(errors.CurrencyNotSupported(), at=later, customer_key="user-1", transaction_id="inv-2")
    [listed] = (await acme.listed(CUSTOMERS)).data

    found = await acme.explain(customer_key="user-1")
    by_click = await acme.explain(click_id=listed.click_id)

    assert (recorded.transaction_id, recorded.outcome) == ("inv-1", CREDITED)
    assert (found.transaction_id, found.outcome) == ("inv-2", errors.CurrencyNotSupported.code)
    assert by_click._replace(subject=found.subject) == found  # its rejected call named no click
    assert (found.sale_id, found.commission_id) == (None, None)
    assert (facts(found, "arithmetic"), facts(found, "hold")) == ({}, {})
    assert next(step.state for step in found.steps if step.step == "lead") == State.PASS


async def test_a_rejected_backfill_is_explained_for_the_time_that_was_sent_and_by_the_terms_of_its_call(acme: World):
    clicked = await acme.visitor(at=NOW - timedelta(days=80))
    sent = {"occurred_at": NOW - timedelta(days=79), "click_id": clicked, "transaction_id": "inv-9"}
    await acme.reject(errors.CurrencyNotSupported(), **sent)
    await acme.change(at=NOW + timedelta(hours=1), rate=1_000)

    found = await acme.explain(transaction_id="inv-9")

    assert facts(found, "window")["compared_at"] == sent["occurred_at"]
    assert next(step.state for step in found.steps if step.step == "window") == State.PASS
    assert facts(found, "rate")["commission_rate"] == 20


async def test_one_identifier_of_a_program_is_required_and_of_another_programs_click_nothing_else_is_said(acme: World):
    wrong: list[dict[str, Any]] = [{}, {"transaction_id": "a", "customer_key": "b"}]
    for subject in wrong:
        with pytest.raises(errors.ValidationError):
            await acme.explain(**subject)
    with pytest.raises(errors.NotFound):
        await acme.store.read(explain, 404, Subject("inv-1"), at=NOW)

    found = await acme.explain(click_id=await (await acme.beside()).visitor())

    assert found.outcome == errors.CustomerWrongProgram.code
    assert facts(found, "click") == {}


UNKNOWN = {"svc_customer_key": "user_1", "svc_click_id": "a-click-of-nobody"}
IDS = ["in_1", "pi_in_1", "ch_in_1", "sub_1", "cs_live_1", "evt_invoice", "cus_1"]


async def subscribe(acme: World, metadata: dict[str, str]) -> None:
    """Deliver a subscription's checkout and its first invoice."""
    about: dict[str, Any] = {"invoice": "in_1", "payment_intent": None, "subscription": "sub_1"}
    await take(acme, stripe.checkout(metadata=metadata, **about))
    await take(acme, stripe.invoice(metadata=metadata, old_shape=True))


async def test_every_id_of_a_payment_explains_its_sale_or_that_it_waits_as_does_the_customer_whom_it_names(acme: World):
    other = await acme.beside()
    await subscribe(other, await named(other))
    await subscribe(acme, UNKNOWN)

    sold, found = [[await each.explain(transaction_id=name) for name in IDS] for each in (other, acme)]
    customers = [await acme.explain(customer_key="user_1"), await acme.explain(click_id="a-click-of-nobody")]

    assert [(each.outcome, each.transaction_id) for each in sold] == [("credited", "in_1")] * len(IDS)
    assert [each.outcome for each in (*found, *customers)] == ["payment_waiting"] * (len(IDS) + 2)
    assert {each.payment_event_id for each in found} <= {"evt_checkout", "evt_invoice"}
    assert all("Try again" in str(each.smallest_change) for each in found)


async def test_what_is_no_sale_or_a_possible_duplicate_says_what_it_is(acme: World):
    await take(acme, stripe.invoice("evt_0", name="in_0", amount=0))
    await take(acme, stripe.invoice("evt_1", name="in_1"))
    await take(acme, stripe.charge_refunded("evt_2", total=5, intent="pi_2"))
    await take(acme, stripe.checkout("evt_3", id="cs_3", payment_intent="pi_3") | {"livemode": False})
    metadata = await named(acme)
    await take(acme, stripe.checkout("evt_4", id="cs_4", payment_intent="pi_4", metadata=metadata, currency="xof"))
    await acme.customer("user-2")
    await acme.sale("order-1", customer_key="user-2")
    await take(acme, stripe.checkout("evt_5", metadata={"svc_customer_key": "user-2"}))

    ids = ("in_0", "in_1", "ch_pi_2", "cs_3", "cs_4", "pi_1")
    verdicts = [(await acme.explain(transaction_id=name)).outcome for name in ids]

    no_sales = ["payment_not_a_sale", "payment_organic", "payment_missing", "only_a_test"]
    assert verdicts == [*no_sales, "currency_not_supported", "payment_held"]
