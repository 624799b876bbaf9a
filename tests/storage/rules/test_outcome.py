"""Every rejection code of the tracking calls has a verdict; every verdict has its words."""

import tracking_api.app
from presentation.operations import DescribedRoute
from storage.diagnosis.messages import MESSAGES
from storage.rules import errors
from storage.rules.errors import CODES, ServiceError
from storage.rules.outcome import SaleOutcome

CROSSING = {"/api/v1/track/handover", "/api/v1/track/redeem"}  # calls of the tracker that no sale depends on
TRACKING = {
    error.code
    for route in tracking_api.app.ROUTES
    if isinstance(route, DescribedRoute) and route.path.startswith(("/api/v1/track/", "/api/v1/cli/"))
    if route.path not in CROSSING
    for description in route.descriptions.values()
    for error in description.errors
}


def test_every_error_of_a_tracking_call_is_an_outcome():
    assert {sale_outcome.value for sale_outcome in SaleOutcome} & set(CODES) == TRACKING


def test_every_outcome_has_a_message_and_only_a_credited_sale_needs_no_change():
    assert [each for each in SaleOutcome if not MESSAGES[each].text] == []
    assert [each for each in SaleOutcome if not MESSAGES[each].change] == [SaleOutcome.CREDITED]


def test_every_error_has_a_code_of_its_own_a_message_and_a_hint_in_whole_sentences():
    classes = ServiceError.__subclasses__()
    texts = {text for error in classes for text in (error.message, error.hint)}

    assert [text for text in texts if text != text.strip() or not text.endswith(".")] == []
    assert len(errors.CODES) == len(set(classes))
    assert all(errors.hint_of(code) for code in errors.CODES)
    assert errors.hint_of("a_code_of_the_future") is None
