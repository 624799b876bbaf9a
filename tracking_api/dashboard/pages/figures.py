"""The figures of a results page: what each is called, what it means, and how it follows from the totals."""

from collections.abc import Callable
from enum import StrEnum
from typing import NamedTuple

from storage.reports.chart import Step
from storage.rules.reports import metrics
from storage.rules.reports.metrics import Direction
from tracking_api.dashboard.pages import text


class FigureKind(StrEnum):
    """How a figure is written. Money is in cents."""

    COUNT = "count"
    MONEY = "money"
    SMALL_MONEY = "small_money"  # with fractions of cents
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
        return int(value) if self.kind in {FigureKind.COUNT, FigureKind.MONEY} else round(value * 100)

    def plotted(self, row: Step, currency: str) -> float:
        """Return its value as the chart draws it: money in major units."""
        value = self.of(row)
        return float(text.major(value, currency)) if self.kind in {FigureKind.MONEY, FigureKind.SMALL_MONEY} else value

    def written(self, row: Step, currency: str) -> str:
        """Return its value as people read it."""
        value = self.of(row)
        if self.kind == FigureKind.COUNT:
            return text.number(int(value))
        if self.kind == FigureKind.PERCENT:
            return text.percentage(value)
        return text.money(int(value), currency) if self.kind == FigureKind.MONEY else text.small_money(value, currency)


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
        *("profit", "Profit after commission", "Revenue minus commission. Your other costs are not deducted."),
        *("money", FigureKind.MONEY, lambda row: row.totals.revenue_cents - row.totals.commission_cents),
    ),
    Figure(
        *("clicks", "Clicks", "Clicks by visitors through a partner's link. Bots and test clicks do not count."),
        *("counts", FigureKind.COUNT, lambda row: row.totals.clicks),
    ),
    Figure(
        *("leads", "Leads", "Customers who signed up. A provisional lead counts once your server confirms it."),
        *("counts", FigureKind.COUNT, lambda row: row.totals.leads),
    ),
    Figure(
        *("customers", "New customers", "Customers who paid for the first time. Reports call them conversions."),
        *("counts", FigureKind.COUNT, lambda row: row.totals.conversions),
    ),
    Figure(
        *("conversion-rate", "Conversion rate", "New customers in percent of the clicks."),
        *("money", FigureKind.PERCENT, lambda row: row.totals.conversion_rate_percent),
    ),
    Figure(
        *("earnings-per-click", "Earnings per click", "What partners earn per click: commission divided by clicks."),
        *("breakdowns", FigureKind.SMALL_MONEY),
        lambda row: row.totals.earnings_per_click_cents,
        Direction.STABLE,
    ),
    Figure(
        *("refunds", "Refunds", "What was refunded in this period, also of sales from before it."),
        *("money", FigureKind.MONEY),
        lambda row: row.refunded_cents,
        Direction.DOWN,
    ),
)
DETAILS = (
    Figure(
        *("sales", "Paid sales", "Sales that were not fully refunded.", "counts", FigureKind.COUNT),
        lambda row: row.totals.sales,
    ),
    Figure(
        *("average-order", "Average order", "Revenue divided by paid sales.", "money", FigureKind.MONEY),
        lambda row: metrics.average_order_cents(row.totals.revenue_cents, row.totals.sales),
    ),
    Figure(
        *("revenue-per-customer", "Revenue per new customer", "Revenue divided by new customers.", "money"),
        *(FigureKind.MONEY, lambda row: row.totals.average_order_cents),
    ),
    Figure(
        *("partners", "New partners", "Partners who joined the program.", "counts", FigureKind.COUNT),
        lambda row: row.totals.partners,
    ),
)
OF_PARTNER = DETAILS[:-1]
