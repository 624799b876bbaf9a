"""The figures of a report: totals, ratios (exact, rounded once, halves away from zero), trends, parts of a period."""

from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from decimal import ROUND_HALF_UP, Decimal
from enum import StrEnum
from itertools import groupby
from typing import NamedTuple, TypeVar

MOST_PARTS = 53  # a year of weeks
Figures = dict[str, int | float]
Sums = TypeVar("Sums", bound=NamedTuple)


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


class Totals(NamedTuple):
    """Counts and cents of one or more days; `sales` counts paid sales, money is net of refunds and reversals."""

    clicks: int = 0
    leads: int = 0
    conversions: int = 0
    sales: int = 0
    revenue_cents: int = 0
    commission_cents: int = 0
    partners: int = 0


class Day(NamedTuple):
    """The totals of one UTC day."""

    date: date
    totals: Totals


class RefundTotals(NamedTuple):
    """How many refunds there were, their cents in the program's currency, and the commission that they took back."""

    refunds: int = 0
    refunded_cents: int = 0
    reversed_cents: int = 0


class RefundedMonth(NamedTuple):
    """The refunds of a month from a day to another, in cents of the program, and the commission that they took back."""

    month: str
    first: date
    last: date
    refunds: int
    refunded_cents: int
    reversed_cents: int


class Part(StrEnum):
    """The length of a part of a period."""

    NONE = "none"
    DAY = "day"
    WEEK = "week"
    MONTH = "month"


def added(zero: Sums, each: Iterable[Sums]) -> Sums:
    """Return the sum of totals of one kind, whose zero is given."""
    return zero._make(map(sum, zip(zero, *each, strict=True)))


def figures(sums: Totals, back: RefundTotals, imported: int) -> Figures:
    """Return totals, ratios and refunds by name; the conversion rate leaves out `imported` ones, without clicks."""
    return {
        **sums._asdict(),
        **({"imported_conversions": imported} if imported else {}),
        "conversion_rate_percent": conversion_rate(sums.conversions - imported, sums.clicks),
        "average_order_cents": average_order_cents(sums.revenue_cents, sums.conversions),
        "earnings_per_click_cents": earnings_per_click_cents(sums.commission_cents, sums.clicks),
        **back._asdict(),
        "refund_rate_percent": refund_rate(back.refunded_cents, sums.revenue_cents),
    }


def trends(current: Totals, previous: Totals) -> dict[str, Trend]:
    """Return the change of each total."""
    return {name: trend(getattr(previous, name), getattr(current, name)) for name in Totals._fields}


def parts_of(days: Sequence[Day], part: Part) -> tuple[Part, list[dict[str, int | date]]]:
    """Return the shortest part, from the one requested, of which there are not too many, and the totals of each."""
    counts = {Part.DAY: len(days), Part.WEEK: len(days) // 7 + 2}
    while counts.get(part, 0) > MOST_PARTS:
        part = Part.WEEK if part == Part.DAY else Part.MONTH
    if part == Part.NONE:
        return part, []
    groups = (list(group) for _, group in groupby(days, key=lambda day: start_of(part, day.date)))
    rows = [added(Totals(), (day.totals for day in inside))._asdict() | {"first": inside[0].date} for inside in groups]
    return part, rows


def start_of(part: Part, day: date) -> date:
    """Return the first day of the week or month of a day; of another part, the day."""
    if part == Part.WEEK:
        return day - timedelta(days=day.weekday())
    return day.replace(day=1) if part == Part.MONTH else day


def trend(previous: int, current: int) -> Trend:
    """Return the trend between two counts or amounts in cents; a change that rounds to 0.0 is stable."""
    changed = None if current and not previous else _ratio(100 * abs(current - previous), abs(previous), "0.1")
    percent = None if changed is None else float(changed)
    if percent == 0:
        return Trend(Direction.STABLE, percent, previous)
    return Trend(Direction.UP if current > previous else Direction.DOWN, percent, previous)


def conversion_rate(conversions: int, clicks: int) -> float:
    """Return conversions per click in percent with two decimals; 0 without clicks."""
    return float(_ratio(100 * conversions, clicks))


def average_order_cents(revenue_cents: int, conversions: int) -> int:
    """Return revenue per conversion in whole cents; 0 without conversions."""
    return int(_ratio(revenue_cents, conversions, "1"))


def earnings_per_click_cents(commission_cents: int, clicks: int) -> float:
    """Return the commission per click in cents with two decimals; 0 without clicks."""
    return float(_ratio(commission_cents, clicks))


def refund_rate(refunded_cents: int, revenue_cents: int) -> float:
    """Return what was refunded in percent of it and the revenue that is left; 0 without either."""
    return float(_ratio(100 * refunded_cents, max(refunded_cents + revenue_cents, 0)))


def _ratio(part: int, whole: int, step: str = "0.01") -> Decimal:
    return (Decimal(part) / whole).quantize(Decimal(step), ROUND_HALF_UP) if whole else Decimal(0)
