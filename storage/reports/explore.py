"""Explore: a program's results, those that pass filters, and cards by some dimensions from one read of the events."""

from datetime import datetime, timedelta
from itertools import accumulate
from typing import NamedTuple

from sqlalchemy import Connection

from storage.reports import breakdown, chart, grouped_events, performance
from storage.reports.grouped_events import MOST_GROUPS, Key
from storage.rules.periods.period import DateRangeQuery, Window
from storage.rules.reports import metrics
from storage.rules.reports.breakdown import EPOCH, NOTHING, BreakdownQuery, Dimension, Metric, RankedGroups

BY_REVENUE = BreakdownQuery((), (), (), Metric.REVENUE, MOST_GROUPS)
_HOUR, _DAY = timedelta(hours=1), timedelta(days=1)


class Frame(NamedTuple):
    """Results without filters, partners' names by code, and the part of the range that filters can read (None: all)."""

    results: chart.Results
    names: dict[str, str]
    reach: Window | None


def read_frame(
    connection: Connection, program_id: int, wanted: DateRangeQuery, *, is_filtered: bool, at: datetime
) -> Frame:
    """Return what a page shows before its cards. Raises the errors of `read_performance`."""
    results = chart.read_results(connection, program_id, wanted, at=at)
    names = dict(grouped_events.read_codes(connection, program_id).values())
    return Frame(results, names, _reach(results.report, wanted.before) if is_filtered else None)


def _reach(report: performance.Performance, before: Window | None) -> Window | None:
    """Return the last days of a report whose clicks, with those of the window before, are not too many to read."""
    room, last = grouped_events.MOST_EVENTS, report.scope.window.last
    if report.current.clicks + (report.previous.clicks if before else 0) <= room:
        return None
    sums = accumulate(day.totals.clicks for day in reversed(report.days))
    fitting = sum(clicks <= room // (2 if before else 1) for clicks in sums)
    return Window(last - (fitting - 1) * _DAY, last)


def read_cards(
    connection: Connection, program_id: int, wanted: DateRangeQuery, query: BreakdownQuery, *, at: datetime
) -> tuple[list[RankedGroups], chart.Results]:
    """Return the totals by each of a query's dimensions, and after filters the steps. Raises as a breakdown does."""
    report = performance.read_performance(connection, program_id, wanted, at=at)
    is_hourly = report.scope.window.length == 1
    keys: list[Key] = [(each,) for each in query.by]
    parts: list[Key] = [(Dimension.HOUR if is_hourly else Dimension.DAY,)] if query.filters else []
    read = breakdown.read_each(connection, report.scope, [*keys, *parts], query.filters)
    codes = grouped_events.read_codes(connection, program_id)
    cards = [breakdown.rank(query._replace(by=key), codes, each) for key, each in zip(keys, read, strict=False)]
    earlier = breakdown.read_each(connection, report.before, parts, query.filters) if parts and wanted.before else []
    now = [step for each in read[len(keys) :] for step in _steps(report.scope.window, each, is_hourly=is_hourly)]
    then = [step for each in earlier for step in _steps(report.before.window, each, is_hourly=is_hourly)]
    current, previous = (metrics.added(metrics.Totals(), (step.totals for step in each)) for each in (now, then))
    return cards, chart.Results(report._replace(current=current, previous=previous), is_hourly, now, then)


def _steps(window: Window, read: grouped_events.Grouped, *, is_hourly: bool) -> list[chart.Step]:
    """Return the hours of a day, or the days of a window, also those without events."""
    length, begin = (_HOUR, 0) if is_hourly else (_DAY, (window.first - EPOCH).days)
    steps = []
    for n in range(24 if is_hourly else window.length):
        totals = read.groups.get((begin + n,), NOTHING)
        start = window.starts_at + n * length
        steps.append(chart.Step(start, start, totals.reported, totals.refunded_cents))
    return steps
