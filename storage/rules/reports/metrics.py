"""The report's ratios and trends. They are exact and rounded once; halves are rounded away from zero."""

from decimal import ROUND_HALF_UP, Decimal
from enum import StrEnum
from typing import NamedTuple


class Direction(StrEnum):
    """The direction of a change."""

    UP = "up"
    DOWN = "down"
    STABLE = "stable"


class Trend(NamedTuple):
    """A change: its direction, its percent with one decimal and without its sign (None: it rose from 0), the start."""

    direction: Direction
    percent: float | None
    previous: int


def trend(previous: int, current: int) -> Trend:
    """Return the trend between two counts or amounts in cents; a change that rounds to 0.0 is stable."""
    percent = _percent(abs(current - previous), abs(previous), "0.1") if previous else None if current else 0.0
    if percent == 0:
        return Trend(Direction.STABLE, percent, previous)
    return Trend(Direction.UP if current > previous else Direction.DOWN, percent, previous)


def conversion_rate(conversions: int, clicks: int) -> float:
    """Return conversions per click in percent with two decimals; 0 without clicks."""
    return _percent(conversions, clicks) if clicks else 0.0


def average_order_cents(revenue_cents: int, conversions: int) -> int:
    """Return revenue per conversion in whole cents; 0 without conversions."""
    return int(_rounded(Decimal(revenue_cents) / conversions, "1")) if conversions else 0


def earnings_per_click_cents(commission_cents: int, clicks: int) -> float:
    """Return the commission per click in cents with two decimals; 0 without clicks."""
    return float(_rounded(Decimal(commission_cents) / clicks, "0.01")) if clicks else 0.0


def refund_rate(refunded_cents: int, revenue_cents: int) -> float:
    """Return what was refunded in percent of it and the revenue that is left; 0 without either."""
    gross_cents = refunded_cents + revenue_cents
    return _percent(refunded_cents, gross_cents) if gross_cents > 0 else 0.0


def _percent(part: int, whole: int, step: str = "0.01") -> float:
    return float(_rounded(Decimal(100 * part) / whole, step))


def _rounded(value: Decimal, step: str) -> Decimal:
    return value.quantize(Decimal(step), ROUND_HALF_UP)
