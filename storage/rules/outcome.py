"""The outcomes of a sale, why it was credited or not, a closed list; and the state of each step to it."""

from enum import StrEnum
from typing import NamedTuple

from storage.rules.payment import PaymentOutcome


class State(StrEnum):
    """Pass and fail are proved; unknown means that there is no data yet."""

    PASS = "pass"  # noqa: S105 - a state, no password
    FAIL = "fail"
    UNKNOWN = "unknown"


class SaleOutcome(StrEnum):
    """The outcome of a sale. The second part of the list has the error codes of the tracking calls."""

    CREDITED = "credited"
    CREDITED_IN_PART = "credited_in_part"
    FULLY_REFUNDED = "fully_refunded"
    POSSIBLE_DUPLICATE = "possible_duplicate"
    COMMISSION_REJECTED = "commission_rejected"
    COMMISSION_RATE_ZERO = "commission_rate_zero"
    COMMISSION_ROUNDS_TO_ZERO = "commission_rounds_to_zero"
    BELOW_MINIMUM_ORDER = "below_minimum_order"
    RECURRING_PERIOD_OVER = "recurring_period_over"
    ONLY_A_TEST = "only_a_test"
    NO_SALE = "no_sale"
    LEAD_PROVISIONAL = "lead_provisional"
    LEAD_OUTRANKED = "lead_outranked"
    NO_LEAD = "no_lead"
    CLICK_FILTERED = "click_filtered"
    PAYMENT_WAITING = "payment_waiting"
    PAYMENT_ORGANIC = "payment_organic"
    PAYMENT_HELD = "payment_held"
    PAYMENT_NOT_REFERRED = "payment_not_referred"
    PAYMENT_NOT_A_SALE = "payment_not_a_sale"
    PAYMENT_MISSING = "payment_missing"
    NOT_RECORDED = "not_recorded"

    INVALID_JSON = "invalid_json"
    VALIDATION_ERROR = "validation_error"
    PAYLOAD_TOO_LARGE = "payload_too_large"
    UNSUPPORTED_MEDIA_TYPE = "unsupported_media_type"
    RATE_LIMITED = "rate_limited"
    OVERLOADED = "overloaded"
    STORAGE_UNAVAILABLE = "storage_unavailable"
    OUTCOME_UNKNOWN = "outcome_unknown"
    INTERNAL_ERROR = "internal_error"
    INVALID_KEY = "invalid_key"
    API_KEY_ROTATION_REQUIRED = "api_key_rotation_required"
    PROGRAM_ID_REQUIRED = "program_id_required"
    PROGRAM_NOT_FOUND = "program_not_found"
    AFFILIATE_URL_REQUIRED = "affiliate_url_required"
    INVALID_AFFILIATE_URL = "invalid_affiliate_url"
    AFF_MISSING = "aff_missing"
    PARTNER_NOT_FOUND = "partner_not_found"
    IDENTIFIER_REQUIRED = "identifier_required"
    IDENTIFIER_CONFLICT = "identifier_conflict"
    CUSTOMER_NOT_FOUND = "customer_not_found"
    CUSTOMER_WRONG_PROGRAM = "customer_wrong_program"
    CUSTOMER_NOT_ATTRIBUTED = "customer_not_attributed"
    STATUS_TRANSITION_REFUSED = "status_transition_refused"
    ATTRIBUTION_WINDOW_EXPIRED = "attribution_window_expired"
    SALE_BEFORE_CLICK = "sale_before_click"
    CURRENCY_NOT_SUPPORTED = "currency_not_supported"
    DUPLICATE_TRANSACTION = "duplicate_transaction"
    TRANSACTION_NOT_FOUND = "transaction_not_found"
    REFUND_EXCEEDS_SALE = "refund_exceeds_sale"
    IDEMPOTENCY_KEY_REUSED = "idempotency_key_reused"


class OutcomeMessage(NamedTuple):
    """The text of an outcome, and the smallest change that would have credited the sale (None if it is credited)."""

    text: str
    change: str | None


def of_payment(outcome: str, *, is_payment: bool) -> SaleOutcome:
    """Return why a processor's event is not a sale; `is_payment` is False for a refund, a dispute or a link."""
    meanings = {
        PaymentOutcome.WAITING: SaleOutcome.PAYMENT_WAITING if is_payment else SaleOutcome.PAYMENT_MISSING,
        PaymentOutcome.UNKNOWN_CUSTOMER: SaleOutcome.PAYMENT_WAITING,
        PaymentOutcome.SETTLING: SaleOutcome.PAYMENT_WAITING,
        PaymentOutcome.ORGANIC: SaleOutcome.PAYMENT_ORGANIC,
        PaymentOutcome.HELD: SaleOutcome.PAYMENT_HELD,
        PaymentOutcome.NOT_REFERRED: SaleOutcome.PAYMENT_NOT_REFERRED,
        PaymentOutcome.TEST: SaleOutcome.ONLY_A_TEST,
    }
    if outcome in set(PaymentOutcome):
        return meanings.get(PaymentOutcome(outcome), SaleOutcome.PAYMENT_NOT_A_SALE)
    return SaleOutcome(outcome)
