"""Refunds: how much of a sale is refunded, and the sale's status afterwards."""

from enum import StrEnum

from storage.rules.errors import RefundExceedsSale


class RefundStatus(StrEnum):
    """The status of a sale after a refund."""

    REFUNDED = "refunded"
    PARTIALLY_REFUNDED = "partially_refunded"
    ALREADY_REFUNDED = "already_refunded"


def amount(requested_cents: int | None, *, sale_cents: int, refunded_before_cents: int) -> int:
    """Return the cents to refund: the requested amount, or all that remains.

    Raises RefundExceedsSale if that is more than remains. A fully refunded sale yields 0.
    """
    remaining_cents = sale_cents - refunded_before_cents
    if remaining_cents == 0 or requested_cents is None:
        return remaining_cents
    if requested_cents > remaining_cents:
        raise RefundExceedsSale(f"The refund asks for {requested_cents} cents; {remaining_cents} remain.")
    return requested_cents


def status(*, refund_cents: int, remaining_cents: int) -> RefundStatus:
    """Return the status that follows from the refunded cents and what remains of the sale."""
    if refund_cents == 0:
        outcome = RefundStatus.ALREADY_REFUNDED
    elif remaining_cents == 0:
        outcome = RefundStatus.REFUNDED
    else:
        outcome = RefundStatus.PARTIALLY_REFUNDED
    return outcome
