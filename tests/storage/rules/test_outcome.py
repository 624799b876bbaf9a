"""Every refusal code of the tracking calls has a verdict; every verdict has its words."""

import pytest

import tracking_api.app
from presentation.operations import DescribedRoute
from storage.rules import outcome
from storage.rules.commission import CommissionStatus
from storage.rules.errors import CODES
from storage.rules.messages import MEANINGS
from storage.rules.outcome import SaleOutcome, Traces, Verdict
from storage.rules.settlement import CustomerStatus, Settlement

TRACKING = {
    error.code
    for route in tracking_api.app.ROUTES
    if isinstance(route, DescribedRoute) and route.path.startswith(("/api/v1/track/", "/api/v1/cli/"))
    for description in route.descriptions.values()
    for error in description.errors
}
EARNED = SaleOutcome(10_000, 0, 2_000, 2_000, CommissionStatus.PENDING, 2_000, recurring_over=False)
NOTHING_EARNED = EARNED._replace(earned_cents=0, net_cents=0, status=None)
LEAD_OF = Traces(customer_status=CustomerStatus.LEAD, settlement=Settlement.SETTLED, clicked=True)
CLICKED = Traces(clicked=True)


@pytest.mark.parametrize("code", sorted(TRACKING))
def test_every_refusal_of_a_tracking_call_has_a_verdict_of_its_name(code: str):
    judged = outcome.without_sale(Traces(refused_with=code))

    assert judged == code
    assert MEANINGS[judged].change


def test_the_refusals_among_the_verdicts_are_codes_of_the_closed_list():
    assert set(CODES) >= TRACKING
    assert {judged.value for judged in Verdict} & set(CODES) == TRACKING


@pytest.mark.parametrize("judged", Verdict)
def test_every_verdict_says_what_it_means_and_only_a_credited_sale_needs_no_change(judged: Verdict):
    assert MEANINGS[judged].text
    assert (MEANINGS[judged].change is None) == (judged == Verdict.CREDITED)


@pytest.mark.parametrize(
    ("sale", "expected"),
    [
        (EARNED, Verdict.CREDITED),
        (EARNED._replace(status=CommissionStatus.PAID), Verdict.CREDITED),
        (EARNED._replace(refunded_cents=5_000, net_cents=1_000), Verdict.CREDITED_IN_PART),
        (EARNED._replace(refunded_cents=10_000, net_cents=0), Verdict.FULLY_REFUNDED),
        (EARNED._replace(status=CommissionStatus.REJECTED, net_cents=0), Verdict.COMMISSION_REJECTED),
        (NOTHING_EARNED._replace(rate=0), Verdict.COMMISSION_RATE_ZERO),
        (NOTHING_EARNED, Verdict.COMMISSION_ROUNDS_TO_ZERO),
        (NOTHING_EARNED._replace(recurring_over=True), Verdict.RECURRING_PERIOD_OVER),
    ],
)
def test_a_recorded_sale_is_judged_by_what_is_left_of_its_commission(sale: SaleOutcome, expected: Verdict):
    assert outcome.of_sale(sale) == expected


@pytest.mark.parametrize(
    ("known", "expected"),
    [
        (Traces(), Verdict.NOT_RECORDED),
        (Traces(tested=True), Verdict.ONLY_A_TEST),
        (Traces(other_program=True), Verdict.CUSTOMER_WRONG_PROGRAM),
        (LEAD_OF, Verdict.NO_SALE),
        (LEAD_OF._replace(settlement=Settlement.PROVISIONAL), Verdict.LEAD_PROVISIONAL),
        (LEAD_OF._replace(in_window=False), Verdict.ATTRIBUTION_WINDOW_EXPIRED),
        (LEAD_OF._replace(partner_active=False), Verdict.CUSTOMER_NOT_ATTRIBUTED),
        (CLICKED, Verdict.NO_LEAD),
        (CLICKED._replace(filtered=True), Verdict.CLICK_FILTERED),
        (LEAD_OF._replace(refused_with="currency_not_supported"), Verdict.CURRENCY_NOT_SUPPORTED),
    ],
)
def test_without_a_sale_the_refusal_counts_then_how_far_it_came(known: Traces, expected: Verdict):
    assert outcome.without_sale(known) == expected
