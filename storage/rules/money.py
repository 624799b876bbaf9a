"""Money arithmetic in integer minor units; halves are rounded to even."""

from fractions import Fraction

BPS = 10_000


def half_even(value: Fraction) -> int:
    """Round an exact amount to whole cents; halves go to the even neighbor (IEEE 754 roundTiesToEven)."""
    return round(value)


def share(amount_cents: int, bps: int) -> int:
    """Return `bps` basis points of `amount_cents`, in whole cents."""
    return half_even(Fraction(amount_cents * bps, BPS))


def convert(amount: int, *, rate: Fraction, from_digits: int, to_digits: int) -> int:
    """Convert minor units of one currency into minor units of another.

    `rate` is the price of one major unit of the first currency in major units of the second;
    `from_digits` and `to_digits` are the ISO 4217 minor-unit digits (2 for USD, 0 for JPY).
    """
    return half_even(Fraction(amount) * rate * Fraction(10) ** (to_digits - from_digits))


def dollars(cents: int) -> float:
    """Return major units as a number with two decimals. Cents become dollars only here."""
    return round(cents / 100, 2)
