"""Results as a page shows them: figures as tiles with trends, a chart, and its table. A long range is added up."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from itertools import groupby, islice
from typing import Any, NamedTuple

from storage.reports.chart import Results, Step
from storage.rules.reports import metrics
from storage.rules.reports.metrics import Direction, Part, Totals
from storage.tracking import currencies
from tracking_api.dashboard.pages import ranges

COUNT, MONEY, PERCENT = "count", "money", "percent"
MOST_DAYS = 92
MOST_WEEKS_OF_DAYS = 732
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


class Figure(NamedTuple):
    """A figure (money in cents), the glossary's section about it, and which direction is good news."""

    name: str
    title: str
    section: str
    kind: str
    of: Callable[[Step], float]
    good: Direction = Direction.UP


def _conversion(row: Step) -> float:
    return metrics.conversion_rate(row.totals.conversions, row.totals.clicks)


def _refund_rate(row: Step) -> float:
    return metrics.refund_rate(row.refunded_cents, row.totals.revenue_cents)


FIGURES = (
    Figure("revenue", "Revenue", "money", MONEY, lambda row: row.totals.revenue_cents),
    Figure("commission", "Commission", "money", MONEY, lambda row: row.totals.commission_cents, Direction.STABLE),
    Figure("clicks", "Clicks", "counts", COUNT, lambda row: row.totals.clicks),
    Figure("customers", "Customers", "counts", COUNT, lambda row: row.totals.conversions),
    Figure("conversion", "Conversion", "money", PERCENT, _conversion),
    Figure("refund-rate", "Refund rate", "breakdowns", PERCENT, _refund_rate, Direction.STABLE),
)


def of(results: Results, picker: ranges.Picker) -> dict[str, Any]:
    """Return results as a page shows them: `totals`, those `before` (None: not compared), rows of the table, the chart.

    The step of the chart that is `open` is not over; later ones have no row.
    """
    report, currency = results.report, results.report.currency
    unit, groups = grouped(results.steps, is_hourly=results.is_hourly)
    steps = list(map(added, groups))
    begun = [step for step in steps if step.first <= report.scope.at]
    last_of = HOUR if results.is_hourly else DAY
    previous = list(alike(groups, results.previous_steps)) if picker.is_compared else []
    totals = added(results.steps)._replace(totals=report.current)
    before = added(results.previous_steps)._replace(totals=report.previous) if picker.is_compared else None
    chosen = next((each for each in FIGURES if each.name == picker.address["figure"]), FIGURES[0])
    return {
        "window": report.scope.window,
        "compared_with": report.before.window if picker.is_compared else None,
        "figures": FIGURES,
        "totals": totals,
        "before": before,
        "rows": begun,
        "chart": {
            "unit": unit,
            "currency": currency,
            "digits": currencies.digits(currency),
            "first": f"{steps[0].first:%F}",
            "lengths": [len(group) for group in groups],  # in hours or days
            "open": next((n for n, step in enumerate(steps) if step.last + last_of > report.scope.at), None),
            "figures": {each.name: _plotted(each, begun, previous) for each in FIGURES},
        },
        "chosen": chosen,
        "highest": max((*begun, *previous), key=chosen.of, default=totals),
    }


def grouped(steps: list[Step], *, is_hourly: bool = False) -> tuple[str, list[list[Step]]]:
    """Return the unit of a row, and its steps: single hours or days, weeks over 92 days, months over two years."""
    if is_hourly or len(steps) <= MOST_DAYS:
        return "hour" if is_hourly else "day", [[step] for step in steps]
    unit = Part.WEEK if len(steps) <= MOST_WEEKS_OF_DAYS else Part.MONTH
    return unit, [list(group) for _, group in groupby(steps, key=lambda step: metrics.start_of(unit, step.first))]


def added(steps: list[Step]) -> Step:
    """Return the sum of some steps."""
    totals = metrics.added(Totals(), (step.totals for step in steps))
    return Step(steps[0].first, steps[-1].last, totals, sum(step.refunded_cents for step in steps))


def alike(groups: list[list[Step]], steps: list[Step]) -> Iterator[Step]:
    """Yield the sums of other steps in groups of the same lengths."""
    rest = iter(steps)
    for group in groups:
        if taken := list(islice(rest, len(group))):
            yield added(taken)


def _plotted(figure: Figure, now: list[Step], before: list[Step]) -> dict[str, Any]:
    """Return a figure as the chart draws it, money in minor units."""
    drawn = {"now": [figure.of(step) or 0 for step in now], "before": [figure.of(step) or 0 for step in before]}
    return {"kind": figure.kind, **drawn}
