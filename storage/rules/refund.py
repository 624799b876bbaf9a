"""How much a refund takes back, of the sale and of its commission."""

from enum import StrEnum

from storage.rules.errors import RefundExceedsSale


class RefundStatus(StrEnum):
    """What a sale has become after a refund call."""

    REFUNDED = "refunded"
    PARTIALLY_REFUNDED = "partially_refunded"
    ALREADY_REFUNDED = "already_refunded"


def amount(requested_cents: int | None, *, sale_cents: int, refunded_before_cents: int) -> int:
    """Return the cents that this refund takes: what was asked, or all that remains.

    Raises RefundExceedsSale when more is asked than remains. A sale that is refunded whole yields 0.
    """
    remaining_cents = sale_cents - refunded_before_cents
    if remaining_cents == 0 or requested_cents is None:
        return remaining_cents
    if requested_cents > remaining_cents:
        raise RefundExceedsSale(f"The refund asks for {requested_cents} cents; {remaining_cents} remain.")
    return requested_cents


def status(*, refund_cents: int, remaining_cents: int) -> RefundStatus:
    """Name the outcome from what this refund took and what remains of the sale afterwards."""
    if refund_cents == 0:
        outcome = RefundStatus.ALREADY_REFUNDED
    elif remaining_cents == 0:
        outcome = RefundStatus.REFUNDED
    else:
        outcome = RefundStatus.PARTIALLY_REFUNDED
    return outcome
