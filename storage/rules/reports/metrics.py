"""The report's ratios. They are exact and rounded once; halves are rounded away from zero."""

from decimal import ROUND_HALF_UP, Decimal


def conversion_rate(conversions: int, clicks: int) -> float:
    """Return conversions per click in percent with two decimals; 0 without clicks."""
    return float(_rounded(Decimal(100 * conversions) / clicks, "0.01")) if clicks else 0.0


def average_order_cents(revenue_cents: int, conversions: int) -> int:
    """Return revenue per conversion in whole cents; 0 without conversions."""
    return int(_rounded(Decimal(revenue_cents) / conversions, "1")) if conversions else 0


def earnings_per_click_cents(commission_cents: int, clicks: int) -> float:
    """Return the commission per click in cents with two decimals; 0 without clicks."""
    return float(_rounded(Decimal(commission_cents) / clicks, "0.01")) if clicks else 0.0


def refund_rate(refunded_cents: int, revenue_cents: int) -> float:
    """Return what was refunded in percent of it and the revenue that is left; 0 without either."""
    gross_cents = refunded_cents + revenue_cents
    return float(_rounded(Decimal(100 * refunded_cents) / gross_cents, "0.01")) if gross_cents > 0 else 0.0


def _rounded(value: Decimal, step: str) -> Decimal:
    return value.quantize(Decimal(step), ROUND_HALF_UP)
