"""The days of a long range, added up by week or month, to keep its chart readable and its page small."""

from collections.abc import Callable
from datetime import date, timedelta
from itertools import groupby
from typing import NamedTuple

from storage.reading import performance
from storage.reading.performance import Day

MOST_DAYS = 92
MOST_WEEKS_OF_DAYS = 732


class Spans(NamedTuple):
    """The unit of a row (day, week or month), and the rows, each under its first day within the range."""

    unit: str
    rows: list[Day]


def of(days: list[Day]) -> Spans:
    """Return a report's days as they are, or those of a range over 92 days by week, of one over two years by month."""
    if len(days) <= MOST_DAYS:
        spans = Spans("day", days)
    elif len(days) <= MOST_WEEKS_OF_DAYS:
        spans = Spans("week", _grouped(days, lambda day: day - timedelta(days=day.weekday())))
    else:
        spans = Spans("month", _grouped(days, lambda day: day.replace(day=1)))
    return spans


def _grouped(days: list[Day], start: Callable[[date], date]) -> list[Day]:
    groups = [list(group) for _, group in groupby(days, key=lambda day: start(day.date))]
    return [Day(group[0].date, performance.added(day.totals for day in group)) for group in groups]
