"""Explanations: one outcome, nine steps, and terms that touch only what is earned after them."""

from datetime import timedelta
from typing import Any

import pytest

from storage.diagnosis.explanation import Explanation, explain
from storage.engine.audit import Actor
from storage.management import partners, program_settings
from storage.rules import errors
from storage.rules.attribution import PartnerStatus
from storage.rules.outcome import SaleOutcome
from storage.rules.state import State
from storage.tracking import test_mode
from tests import world
from tests.world import NOW, World

OWNER = Actor("user", "1", "owner@acme.example")
STEPS = ["partner", "click", "window", "lead", "program", "rate", "hold", "refunds", "arithmetic"]


async def explained(acme: World, *, at: Any = NOW, **subject: str) -> Explanation:
    found: Explanation = await acme.store.read(explain, acme.program_id, **subject, at=at)
    return found


def facts(found: Explanation, step: str) -> dict[str, Any]:
    return next(each.facts for each in found.steps if each.step == step)


async def change(acme: World, at: Any = NOW, **changes: Any) -> None:
    await acme.store.write(program_settings.change, acme.program_id, changes, actor=OWNER, at=at)


async def test_new_terms_price_only_what_is_earned_after_them(acme: World):
    await acme.customer()
    await acme.sale("inv-1")
    await change(acme, commission_rate=50)
    await acme.sale("inv-2")

    before, after = await explained(acme, transaction_id="inv-1"), await explained(acme, transaction_id="inv-2")

    assert (before.terms_version, facts(before, "arithmetic")["net_cents"]) == (1, 2_000)
    assert (after.terms_version, facts(after, "arithmetic")["net_cents"]) == (2, 5_000)
    assert before.commission_id != after.commission_id


async def test_the_trace_has_every_step_in_order_and_a_credited_sale_needs_no_change(acme: World):
    await acme.customer()
    await acme.reject(errors.CustomerNotFound(), customer_key="user-1", transaction_id="inv-1")
    await acme.sale(at=NOW + timedelta(hours=1))

    found = await explained(acme, customer_key="user-1")

    assert [step.step for step in found.steps] == STEPS
    assert {step.state.value for step in found.steps} == {"pass"}
    assert (found.outcome, found.smallest_change) == (SaleOutcome.CREDITED, None)
    assert len((await explained(acme, transaction_id="inv-1")).rejected_calls) == 1


async def test_a_refund_in_part_is_in_the_arithmetic(acme: World):
    await acme.customer()
    await acme.sale()
    await acme.refund("inv-1", 2_500)

    found = await explained(acme, transaction_id="inv-1")

    assert found.outcome == SaleOutcome.CREDITED_IN_PART
    assert facts(found, "refunds") == {
        "refunds": 1,
        "refunded_cents": 2_500,
        "remaining_cents": 7_500,
        "currency": "USD",
    }
    arithmetic = facts(found, "arithmetic")
    assert (arithmetic["earned_cents"], arithmetic["taken_back_cents"], arithmetic["net_cents"]) == (2_000, 500, 1_500)


async def test_a_sale_after_the_recurring_months_earns_nothing(acme: World):
    await change(acme, recurring_months=0)
    await acme.customer()
    await acme.sale("inv-1")
    await acme.sale("inv-2", at=NOW + timedelta(days=40))

    assert (await explained(acme, transaction_id="inv-1")).outcome == SaleOutcome.CREDITED
    assert (await explained(acme, transaction_id="inv-2")).outcome == SaleOutcome.RECURRING_PERIOD_OVER


async def test_a_rejected_sale_names_the_key_that_it_should_have_or_can_be_sent_again(acme: World):
    await acme.customer("user-17")
    await acme.reject(errors.CustomerNotFound(), customer_key="17", transaction_id="inv-9")
    await acme.reject(errors.CustomerNotFound(), customer_key="user-1", transaction_id="inv-1")
    await acme.customer("user-1")

    wrong, early = [await explained(acme, transaction_id=name) for name in ("inv-9", "inv-1")]

    assert wrong.smallest_change == 'Send customer_key "user-17", as at the lead, instead of "17".'
    assert (early.smallest_change or "").startswith("Send the same sale again")


@pytest.mark.parametrize("sent", ["customer_key", "click_id"])
async def test_a_rejected_sale_is_explained_with_the_customer_that_the_request_named(acme: World, sent: str):
    click_id = await acme.visitor()
    await acme.lead(click_id, "user-1")
    named = {"customer_key": "user-1", "click_id": click_id}[sent]
    await acme.reject(errors.CurrencyNotSupported(), transaction_id="inv-9", **{sent: named})

    found = await explained(acme, transaction_id="inv-9")

    assert found.outcome == SaleOutcome.CURRENCY_NOT_SUPPORTED
    assert facts(found, "lead")["customer_key"] == "user-1"
    assert (facts(found, "click")["click_id"], facts(found, "partner")["code"]) == (click_id, "anna")


async def test_the_steps_of_a_customer_are_those_of_the_sale_that_the_outcome_names(acme: World):
    await acme.customer()
    await acme.sale("inv-1")
    recorded = await explained(acme, customer_key="user-1")
    later = NOW + timedelta(hours=1)
    await acme.reject(errors.CurrencyNotSupported(), at=later, customer_key="user-1", transaction_id="inv-2")

    found = await explained(acme, customer_key="user-1")

    assert (recorded.transaction_id, recorded.outcome) == ("inv-1", SaleOutcome.CREDITED)
    assert (found.transaction_id, found.outcome) == ("inv-2", SaleOutcome.CURRENCY_NOT_SUPPORTED)
    assert (found.sale_id, found.commission_id) == (None, None)
    assert (facts(found, "arithmetic"), facts(found, "hold")) == ({}, {})
    assert next(step.state for step in found.steps if step.step == "lead") == State.PASS


async def test_an_expired_window_is_explained_with_the_programs_number_of_days(acme: World):
    await change(acme, attribution_window_days=14)
    await acme.customer()
    late = {"at": NOW + timedelta(days=15), "customer_key": "user-1"}
    await acme.reject(errors.AttributionWindowExpired(), transaction_id="inv-1", **late)

    found = await explained(acme, transaction_id="inv-1", at=NOW + timedelta(days=20))

    expected = "The sale came more than 14 days after the click."
    assert found.text == expected
    assert next(step.text for step in found.steps if step.step == "window") == expected


async def test_a_click_without_a_sale_is_explained_by_its_last_step(acme: World):
    clicked, filtered = await acme.visitor(), await acme.visitor(filtered="bot")
    read = ((clicked, NOW), (filtered, NOW), (clicked, NOW + timedelta(days=61)))

    found = [await explained(acme, click_id=click_id, at=at) for click_id, at in read]

    expected = [SaleOutcome.NO_LEAD, SaleOutcome.CLICK_FILTERED, SaleOutcome.ATTRIBUTION_WINDOW_EXPIRED]
    assert [each.outcome for each in found] == expected
    assert all(each.smallest_change for each in found)


async def test_a_provisional_lead_a_settled_one_and_a_lost_partner_have_different_outcomes(acme: World):
    provisional = await acme.visitor()
    await acme.lead(provisional, "user-1", is_trusted=False)
    await acme.customer("user-2", "ben")
    await acme.customer("user-3")
    gone = {"status": PartnerStatus.INACTIVE}
    await acme.store.write(partners.change, acme.program_id, acme.ben, gone, actor=OWNER, at=NOW)

    settled = (await explained(acme, customer_key="user-3")).steps[1].facts["click_id"]
    by_key = [(await explained(acme, customer_key=key)).outcome for key in ("user-1", "user-2", "user-3")]
    by_click = [(await explained(acme, click_id=click_id)).outcome for click_id in (provisional, settled)]

    assert by_key == [SaleOutcome.NOT_RECORDED, SaleOutcome.CUSTOMER_NOT_ATTRIBUTED, SaleOutcome.NO_SALE]
    assert by_click == [SaleOutcome.LEAD_PROVISIONAL, SaleOutcome.NO_SALE]


async def test_another_programs_click_is_reported_as_such(acme: World):
    other = await world.program_of(acme.store, acme.workspace_id, acme.owner_id)
    click_id = await other.visitor()

    found = await explained(acme, click_id=click_id)

    assert found.outcome == SaleOutcome.CUSTOMER_WRONG_PROGRAM
    assert facts(found, "click") == {}


async def test_a_test_is_no_sale_and_nothing_is_nothing(acme: World):
    await acme.handle(test_mode.record_with_key, test_mode.TestModeCall("sale", NOW, transaction_id="inv-1"))

    assert (await explained(acme, transaction_id="inv-1")).outcome == SaleOutcome.ONLY_A_TEST
    assert (await explained(acme, transaction_id="inv-2")).outcome == SaleOutcome.NOT_RECORDED


async def test_exactly_one_identifier_of_a_program_is_required(acme: World):
    for subject in ({}, {"transaction_id": "a", "customer_key": "b"}):
        with pytest.raises(errors.ValidationError):
            await explained(acme, **subject)
    with pytest.raises(errors.NotFound):
        await acme.store.read(explain, 404, transaction_id="inv-1", at=NOW)
