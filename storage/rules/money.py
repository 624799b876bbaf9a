"""Money arithmetic in integer minor units, halves rounded to even; how much of a sale is refunded."""

from enum import StrEnum
from fractions import Fraction

BPS = 10_000


def half_even(value: Fraction) -> int:
    """Round an exact amount to whole cents; halves go to the even neighbor (IEEE 754 roundTiesToEven)."""
    return round(value)


def share(amount_cents: int, bps: int) -> int:
    """Return `bps` basis points of `amount_cents`, in whole cents, rounded as `half_even` rounds."""
    whole, rest = divmod(amount_cents * bps, BPS)
    return whole + (2 * rest > BPS or (2 * rest == BPS and whole % 2 == 1))


def convert(amount: int, *, rate: Fraction, from_digits: int, to_digits: int) -> int:
    """Convert minor units; `rate` is the price of a major unit in major units of the other, digits are ISO 4217's."""
    return half_even(Fraction(amount) * rate * Fraction(10) ** (to_digits - from_digits))


def dollars(cents: int) -> float:
    """Return major units as a number with two decimals. Cents become dollars only here."""
    return round(cents / 100, 2)


class RefundStatus(StrEnum):
    """The status of a sale after a refund."""

    REFUNDED = "refunded"
    PARTIALLY_REFUNDED = "partially_refunded"
    ALREADY_REFUNDED = "already_refunded"


def refund_status(*, refunded_cents: int, remaining_cents: int) -> RefundStatus:
    """Return the status that follows from the refunded cents and what remains of the sale."""
    if refunded_cents == 0:
        return RefundStatus.ALREADY_REFUNDED
    return RefundStatus.PARTIALLY_REFUNDED if remaining_cents else RefundStatus.REFUNDED
