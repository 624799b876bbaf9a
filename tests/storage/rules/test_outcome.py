"""Every rejection code of the tracking calls has a verdict; every verdict has its words."""

import tracking_api.app
from presentation.operations import DescribedRoute
from storage.diagnosis.messages import MESSAGES
from storage.rules import errors, outcome
from storage.rules.commission import CommissionStatus
from storage.rules.errors import CODES, ServiceError
from storage.rules.outcome import IdentifierFacts, SaleFacts, SaleOutcome
from storage.rules.settlement import CustomerStatus, Settlement

CROSSING = {"/api/v1/track/handover", "/api/v1/track/redeem"}  # calls of the tracker that no sale depends on
TRACKING = {
    error.code
    for route in tracking_api.app.ROUTES
    if isinstance(route, DescribedRoute) and route.path.startswith(("/api/v1/track/", "/api/v1/cli/"))
    if route.path not in CROSSING
    for description in route.descriptions.values()
    for error in description.errors
}
EARNED = SaleFacts(10_000, 0, 2_000, 2_000, CommissionStatus.PENDING, 2_000, recurring_over=False)
NOTHING_EARNED = EARNED._replace(earned_cents=0, net_cents=0, status=None)
LEAD_OF = IdentifierFacts(customer_status=CustomerStatus.LEAD, settlement=Settlement.SETTLED, clicked=True)
CLICKED = IdentifierFacts(clicked=True)


def test_every_error_of_a_tracking_call_is_an_outcome():
    outcomes = {code: outcome.without_sale(IdentifierFacts(rejected_with=code)) for code in TRACKING}

    assert all(code == sale_outcome for code, sale_outcome in outcomes.items())
    assert {sale_outcome.value for sale_outcome in SaleOutcome} & set(CODES) == TRACKING


def test_every_outcome_has_a_message_and_only_a_credited_sale_needs_no_change():
    assert [each for each in SaleOutcome if not MESSAGES[each].text] == []
    assert [each for each in SaleOutcome if MESSAGES[each].change is None] == [SaleOutcome.CREDITED]
    assert all(MESSAGES[each].change for each in SaleOutcome if each != SaleOutcome.CREDITED)


def test_every_error_has_a_code_of_its_own_a_message_and_a_hint_in_whole_sentences():
    classes = ServiceError.__subclasses__()
    texts = {text for error in classes for text in (error.message, error.hint)}

    assert [text for text in texts if text != text.strip() or not text.endswith(".")] == []
    assert len(errors.CODES) == len(set(classes))
    assert all(errors.hint_of(code) for code in errors.CODES)
    assert errors.hint_of("a_code_of_the_future") is None


def test_a_recorded_sale_is_judged_by_what_is_left_of_its_commission():
    expected = {
        EARNED: SaleOutcome.CREDITED,
        EARNED._replace(status=CommissionStatus.PAID): SaleOutcome.CREDITED,
        EARNED._replace(refunded_cents=5_000, net_cents=1_000): SaleOutcome.CREDITED_IN_PART,
        EARNED._replace(refunded_cents=10_000, net_cents=0): SaleOutcome.FULLY_REFUNDED,
        EARNED._replace(may_be_duplicate=True): SaleOutcome.POSSIBLE_DUPLICATE,
        EARNED._replace(status=CommissionStatus.REJECTED, net_cents=0): SaleOutcome.COMMISSION_REJECTED,
        NOTHING_EARNED._replace(rate=0): SaleOutcome.COMMISSION_RATE_ZERO,
        NOTHING_EARNED: SaleOutcome.COMMISSION_ROUNDS_TO_ZERO,
        NOTHING_EARNED._replace(recurring_over=True): SaleOutcome.RECURRING_PERIOD_OVER,
    }

    assert {sale: outcome.of_sale(sale) for sale in expected} == expected


def test_without_a_sale_the_rejection_decides_then_the_last_step():
    expected = {
        IdentifierFacts(): SaleOutcome.NOT_RECORDED,
        IdentifierFacts(tested=True): SaleOutcome.ONLY_A_TEST,
        IdentifierFacts(other_program=True): SaleOutcome.CUSTOMER_WRONG_PROGRAM,
        LEAD_OF._replace(settlement=Settlement.OUTRANKED): SaleOutcome.LEAD_OUTRANKED,
        LEAD_OF: SaleOutcome.NO_SALE,
        LEAD_OF._replace(settlement=Settlement.PROVISIONAL): SaleOutcome.LEAD_PROVISIONAL,
        LEAD_OF._replace(in_window=False): SaleOutcome.ATTRIBUTION_WINDOW_EXPIRED,
        LEAD_OF._replace(partner_active=False): SaleOutcome.CUSTOMER_NOT_ATTRIBUTED,
        CLICKED: SaleOutcome.NO_LEAD,
        CLICKED._replace(filtered=True): SaleOutcome.CLICK_FILTERED,
        LEAD_OF._replace(rejected_with="currency_not_supported"): SaleOutcome.CURRENCY_NOT_SUPPORTED,
    }

    assert {known: outcome.without_sale(known) for known in expected} == expected
