"""The outcomes of a sale, why it was credited or not, in codes and in words; and the state of each step to it."""

import tomllib
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from storage.rules.errors import BY_CODE
from storage.rules.payment import PaymentOutcome


class State(StrEnum):
    """Pass and fail are proved; unknown means that there is no data yet."""

    PASS = "pass"  # noqa: S105 - a state, no password
    FAIL = "fail"
    UNKNOWN = "unknown"


class SaleOutcome(StrEnum):
    """The outcome of a sale; that of a rejected call is its error code."""

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


class OutcomeMessage(NamedTuple):
    """The text of an outcome, and the smallest change that would have credited the sale (None if it is credited)."""

    text: str
    change: str | None


_TEXTS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
MESSAGES = {code: OutcomeMessage(error.message, error.hint) for code, error in BY_CODE.items()} | {
    outcome: OutcomeMessage(said["text"], said.get("change")) for outcome, said in _TEXTS["outcomes"].items()
}
PAYMENT_CHANGES: dict[str, str] = _TEXTS["payment_changes"]


def of_payment(outcome: str, *, is_payment: bool) -> str:
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
    return outcome
