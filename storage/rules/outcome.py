"""Why a sale was credited or not: one verdict, from a closed list."""

from enum import StrEnum
from typing import NamedTuple

from storage.rules.commission import CommissionStatus
from storage.rules.settlement import CustomerStatus, Settlement


class Verdict(StrEnum):
    """What became of a sale. The second part: the codes with which tracking calls are refused, word for word."""

    CREDITED = "credited"
    CREDITED_IN_PART = "credited_in_part"
    FULLY_REFUNDED = "fully_refunded"
    COMMISSION_REJECTED = "commission_rejected"
    COMMISSION_RATE_ZERO = "commission_rate_zero"
    COMMISSION_ROUNDS_TO_ZERO = "commission_rounds_to_zero"
    RECURRING_PERIOD_OVER = "recurring_period_over"
    ONLY_A_TEST = "only_a_test"
    NO_SALE = "no_sale"
    LEAD_PROVISIONAL = "lead_provisional"
    NO_LEAD = "no_lead"
    CLICK_FILTERED = "click_filtered"
    NOT_RECORDED = "not_recorded"

    INVALID_JSON = "invalid_json"
    VALIDATION_ERROR = "validation_error"
    PAYLOAD_TOO_LARGE = "payload_too_large"
    UNSUPPORTED_MEDIA_TYPE = "unsupported_media_type"
    RATE_LIMITED = "rate_limited"
    OVERLOADED = "overloaded"
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
    CURRENCY_NOT_SUPPORTED = "currency_not_supported"
    DUPLICATE_TRANSACTION = "duplicate_transaction"
    TRANSACTION_NOT_FOUND = "transaction_not_found"
    REFUND_EXCEEDS_SALE = "refund_exceeds_sale"


class Meaning(NamedTuple):
    """A verdict in words, and the smallest change that would have credited the sale (None: it is credited)."""

    text: str
    change: str | None


class SaleOutcome(NamedTuple):
    """A recorded sale: what it earned and what is left of that, in cents of the program's currency."""

    sale_cents: int
    refunded_cents: int
    earned_cents: int
    net_cents: int
    status: CommissionStatus | None
    rate: int
    recurring_over: bool


class Traces(NamedTuple):
    """What is known of an identifier that names no recorded sale."""

    refused_with: str | None = None
    tested: bool = False
    other_program: bool = False
    customer_status: CustomerStatus | None = None
    settlement: Settlement | None = None
    clicked: bool = False
    filtered: bool = False
    in_window: bool = True
    partner_active: bool = True


def of_sale(sale: SaleOutcome) -> Verdict:
    """Name what became of a recorded sale."""
    if sale.earned_cents == 0:
        verdict = _unearned(sale)
    elif sale.status == CommissionStatus.REJECTED:
        verdict = Verdict.COMMISSION_REJECTED
    elif sale.net_cents == 0:
        verdict = Verdict.FULLY_REFUNDED
    elif sale.refunded_cents:
        verdict = Verdict.CREDITED_IN_PART
    else:
        verdict = Verdict.CREDITED
    return verdict


def without_sale(known: Traces) -> Verdict:
    """Name why nothing is credited where no sale is recorded: the refusal if there was one, else how far it came."""
    if known.refused_with is not None:
        return Verdict(known.refused_with)
    if known.other_program:
        verdict = Verdict.CUSTOMER_WRONG_PROGRAM
    elif known.customer_status is None and not known.clicked:
        verdict = Verdict.ONLY_A_TEST if known.tested else Verdict.NOT_RECORDED
    elif not known.partner_active:
        verdict = Verdict.CUSTOMER_NOT_ATTRIBUTED
    elif not known.in_window:
        verdict = Verdict.ATTRIBUTION_WINDOW_EXPIRED
    elif known.settlement == Settlement.SETTLED:
        verdict = Verdict.NO_SALE
    elif known.settlement == Settlement.PROVISIONAL:
        verdict = Verdict.LEAD_PROVISIONAL
    else:
        verdict = Verdict.CLICK_FILTERED if known.filtered else Verdict.NO_LEAD
    return verdict


def _unearned(sale: SaleOutcome) -> Verdict:
    if sale.recurring_over:
        verdict = Verdict.RECURRING_PERIOD_OVER
    elif sale.rate == 0:
        verdict = Verdict.COMMISSION_RATE_ZERO
    else:
        verdict = Verdict.COMMISSION_ROUNDS_TO_ZERO
    return verdict
