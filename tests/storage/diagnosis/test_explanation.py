"""Explanations, on both databases: one outcome, nine steps, and terms that touch only what is earned after them."""

from datetime import timedelta
from typing import Any

import pytest

from storage.diagnosis.explanation import Explanation, explain
from storage.engine.audit import Actor
from storage.management import partners, program_settings
from storage.rules.attribution import PartnerStatus
from storage.rules.errors import (
    AttributionWindowExpired,
    CurrencyNotSupported,
    CustomerNotFound,
    NotFound,
    ServiceError,
    ValidationError,
)
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


async def rejected(acme: World, rejection: ServiceError, **about: Any) -> None:
    await acme.reject(rejection, **about)


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
    await acme.sale()

    found = await explained(acme, customer_key="user-1")

    assert [step.step for step in found.steps] == STEPS
    assert {step.state.value for step in found.steps} == {"pass"}
    assert (found.outcome, found.smallest_change) == (SaleOutcome.CREDITED, None)


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


async def test_a_rejected_sale_that_is_recorded_later_is_credited(acme: World):
    await acme.customer()
    await rejected(acme, CustomerNotFound(), customer_key="user-1", transaction_id="inv-1")
    await acme.sale(at=NOW + timedelta(hours=1))

    found = await explained(acme, transaction_id="inv-1")

    assert (found.outcome, len(found.rejected_calls)) == (SaleOutcome.CREDITED, 1)


async def test_a_customer_is_explained_by_their_later_rejected_sale(acme: World):
    await acme.customer()
    await acme.sale()
    await rejected(acme, ValidationError(), at=NOW + timedelta(hours=1), customer_key="user-1", transaction_id="inv-2")

    found = await explained(acme, customer_key="user-1")

    assert found.outcome == SaleOutcome.VALIDATION_ERROR


async def test_a_rejected_sale_names_the_key_that_it_should_have(acme: World):
    await acme.customer("user-17")
    await rejected(acme, CustomerNotFound(), customer_key="17", transaction_id="inv-9")

    found = await explained(acme, transaction_id="inv-9")

    assert found.smallest_change == 'Send customer_key "user-17", as at the lead, instead of "17".'


@pytest.mark.parametrize("sent", ["customer_key", "click_id"])
async def test_a_rejected_sale_is_explained_with_the_customer_that_the_request_named(acme: World, sent: str):
    click_id = await acme.visitor()
    await acme.lead(click_id, "user-1")
    named = {"customer_key": "user-1", "click_id": click_id}[sent]
    await rejected(acme, CurrencyNotSupported(), transaction_id="inv-9", **{sent: named})

    found = await explained(acme, transaction_id="inv-9")

    assert found.outcome == SaleOutcome.CURRENCY_NOT_SUPPORTED
    assert facts(found, "lead")["customer_key"] == "user-1"
    assert (facts(found, "click")["click_id"], facts(found, "partner")["code"]) == (click_id, "anna")


async def test_a_sale_rejected_before_its_lead_arrived_can_be_sent_again(acme: World):
    await rejected(acme, CustomerNotFound(), customer_key="user-1", transaction_id="inv-9")
    await acme.customer("user-1")

    found = await explained(acme, transaction_id="inv-9")

    assert (found.smallest_change or "").startswith("Send the same sale again")


async def test_the_steps_of_a_customer_are_those_of_the_sale_that_the_outcome_names(acme: World):
    await acme.customer()
    await acme.sale("inv-1")
    recorded = await explained(acme, customer_key="user-1")
    later = NOW + timedelta(hours=1)
    await rejected(acme, CurrencyNotSupported(), at=later, customer_key="user-1", transaction_id="inv-2")

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
    await rejected(acme, AttributionWindowExpired(), transaction_id="inv-1", **late)

    found = await explained(acme, transaction_id="inv-1", at=NOW + timedelta(days=20))

    expected = "The sale came more than 14 days after the click."
    assert found.text == expected
    assert next(step.text for step in found.steps if step.step == "window") == expected


@pytest.mark.parametrize(
    ("fields", "after", "outcome"),
    [
        ({}, 0, SaleOutcome.NO_LEAD),
        ({"filtered": "bot"}, 0, SaleOutcome.CLICK_FILTERED),
        ({}, 61, SaleOutcome.ATTRIBUTION_WINDOW_EXPIRED),
    ],
)
async def test_a_click_without_a_sale_is_explained_by_its_last_step(
    acme: World, fields: Any, after: int, outcome: SaleOutcome
):
    click_id = await acme.visitor(**fields)

    found = await explained(acme, click_id=click_id, at=NOW + timedelta(days=after))

    assert found.outcome == outcome
    assert found.smallest_change


async def test_a_provisional_lead_a_settled_one_and_a_lost_partner_have_different_outcomes(acme: World):
    await acme.lead(await acme.visitor(), "user-1", is_trusted=False, program_id=acme.program_id)
    await acme.customer("user-2", "ben")
    await acme.customer("user-3")
    gone = {"status": PartnerStatus.INACTIVE}
    await acme.store.write(partners.change, acme.program_id, acme.ben, gone, actor=OWNER, at=NOW)

    click_id = (await explained(acme, customer_key="user-3")).steps[1].facts["click_id"]
    outcomes = [(await explained(acme, customer_key=key)).outcome for key in ("user-1", "user-2", "user-3")]

    assert outcomes == [SaleOutcome.NOT_RECORDED, SaleOutcome.CUSTOMER_NOT_ATTRIBUTED, SaleOutcome.NO_SALE]
    assert (await explained(acme, click_id=click_id)).outcome == SaleOutcome.NO_SALE


async def test_a_provisional_lead_is_found_by_its_click(acme: World):
    click_id = await acme.visitor()
    await acme.lead(click_id, "user-1", is_trusted=False, program_id=acme.program_id)

    assert (await explained(acme, click_id=click_id)).outcome == SaleOutcome.LEAD_PROVISIONAL


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


@pytest.mark.parametrize("subject", [{}, {"transaction_id": "a", "customer_key": "b"}])
async def test_exactly_one_identifier_is_required(acme: World, subject: dict[str, str]):
    with pytest.raises(ValidationError):
        await explained(acme, **subject)


async def test_an_invalid_program_id_is_not_found(acme: World):
    with pytest.raises(NotFound):
        await acme.store.read(explain, 404, transaction_id="inv-1", at=NOW)
