"""The steps of a chart: hours or days as they are; those of a long range added up by week or month."""

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta
from itertools import groupby, islice
from typing import NamedTuple

from storage.reports.chart import Step
from storage.rules.reports import metrics
from storage.rules.reports.metrics import Totals

MOST_DAYS = 92
MOST_WEEKS_OF_DAYS = 732


class ChartRow(NamedTuple):
    """A row of the chart's table: its first and its last step within the range, and their sum."""

    first: datetime
    last: datetime
    totals: Totals
    refunded_cents: int


class Spans(NamedTuple):
    """The unit of a row (hour, day, week or month), and the rows; those of the range before have the same lengths."""

    unit: str
    rows: list[ChartRow]
    previous: list[ChartRow]


def of(steps: list[Step], previous: Iterable[Step] = (), *, is_hourly: bool = False) -> Spans:
    """Return hours or days as they are, those of a range over 92 days by week, of one over two years by month."""
    if is_hourly or len(steps) <= MOST_DAYS:
        unit, groups = "hour" if is_hourly else "day", [[step] for step in steps]
    elif len(steps) <= MOST_WEEKS_OF_DAYS:
        unit, groups = "week", _grouped(steps, lambda at: at - timedelta(days=at.weekday()))
    else:
        unit, groups = "month", _grouped(steps, lambda at: at.replace(day=1))
    return Spans(unit, [added(group) for group in groups], list(_alike(groups, previous)))


def added(steps: list[Step]) -> ChartRow:
    """Return the sum of some steps."""
    totals = metrics.add_totals(step.totals for step in steps)
    return ChartRow(steps[0].at, steps[-1].at, totals, sum(step.refunded_cents for step in steps))


def _grouped(steps: list[Step], start: Callable[[datetime], datetime]) -> list[list[Step]]:
    return [list(group) for _, group in groupby(steps, key=lambda step: start(step.at))]


def _alike(groups: list[list[Step]], steps: Iterable[Step]) -> Iterator[ChartRow]:
    """Yield the sums of other steps in groups of the same lengths."""
    rest = iter(steps)
    for group in groups:
        if taken := list(islice(rest, len(group))):
            yield added(taken)
