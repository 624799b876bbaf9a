"""The figures of a results page: what each is called, what it means, and how it follows from the totals."""

from collections.abc import Callable
from enum import StrEnum
from typing import NamedTuple

from storage.reports.chart import Step
from storage.rules.reports import metrics
from storage.rules.reports.metrics import Direction, Trend
from tracking_api.dashboard.pages import text


class FigureKind(StrEnum):
    """How a figure is written. Money is in cents."""

    COUNT = "count"
    MONEY = "money"
    PERCENT = "percent"


class Figure(NamedTuple):
    """A figure, its definition, the section of the glossary that has it, and which direction is good news."""

    name: str
    title: str
    definition: str
    section: str
    kind: FigureKind
    of: Callable[[Step], float]
    good: Direction = Direction.UP

    def comparable(self, row: Step) -> int:
        """Return its value as an integer: a trend compares integers."""
        value = self.of(row)
        return round(value * 100) if self.kind == FigureKind.PERCENT else int(value)

    def plotted(self, row: Step, currency: str) -> float:
        """Return its value as the chart draws it: money in major units."""
        value = self.of(row)
        return float(text.major(value, currency)) if self.kind == FigureKind.MONEY else value

    def written(self, row: Step, currency: str) -> str:
        """Return its value as people read it."""
        value = self.of(row)
        if self.kind == FigureKind.PERCENT:
            return text.percentage(value)
        return text.number(int(value)) if self.kind == FigureKind.COUNT else text.money(int(value), currency)

    def moved(self, before: Step, now: Step) -> tuple[Trend, str]:
        """Return how it moved, and by how much: in percent, or in points of a percentage."""
        trend = metrics.trend(self.comparable(before), self.comparable(now))
        if self.kind != FigureKind.PERCENT or trend.direction == Direction.STABLE:
            return trend, text.percent(trend)
        return trend, f"{text.number(round(abs(self.of(now) - self.of(before)), 2))} pt"


def _refund_rate(row: Step) -> float:
    return metrics.refund_rate(row.refunded_cents, row.totals.revenue_cents)


FIGURES = (
    Figure(
        *("revenue", "Revenue", "The amounts of sales minus their refunds. A refund counts on the day of its sale."),
        *("money", FigureKind.MONEY, lambda row: row.totals.revenue_cents),
    ),
    Figure(
        *("commission", "Commission", "What partners earned, minus what refunds and rejections took back."),
        *("money", FigureKind.MONEY),
        lambda row: row.totals.commission_cents,
        Direction.STABLE,
    ),
    Figure(
        *("clicks", "Clicks", "Clicks by visitors through a partner's link. Bots and test clicks do not count."),
        *("counts", FigureKind.COUNT, lambda row: row.totals.clicks),
    ),
    Figure(
        *("customers", "Customers", "Customers who paid for the first time. The APIs call them conversions."),
        *("counts", FigureKind.COUNT, lambda row: row.totals.conversions),
    ),
    Figure(
        *("conversion", "Conversion", "Customers in percent of the clicks."),
        *("money", FigureKind.PERCENT, lambda row: row.totals.conversion_rate_percent),
    ),
    Figure(
        *("refund-rate", "Refund rate", "What was refunded, in percent of it and the revenue that is left."),
        *("breakdowns", FigureKind.PERCENT),
        _refund_rate,
        Direction.STABLE,
    ),
)


def chosen(name: str | None) -> Figure:
    """Return the figure with a name, or the first."""
    return next((each for each in FIGURES if each.name == name), FIGURES[0])
