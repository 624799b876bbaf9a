"""Explore: a program's results, those that pass filters, and cards by some dimensions from one read of the events."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import Connection

from storage.reports import breakdown, chart, grouped_events, performance
from storage.reports.grouped_events import MOST_GROUPS, Key
from storage.rules.periods.period import DateRangeQuery, Window
from storage.rules.reports import metrics
from storage.rules.reports.breakdown import EPOCH, NOTHING, BreakdownQuery, Dimension, GroupTotals, Metric, RankedGroups

BY_REVENUE = BreakdownQuery((), (), (), Metric.REVENUE, MOST_GROUPS)
_HOUR, _DAY = timedelta(hours=1), timedelta(days=1)


class ComparedGroup(NamedTuple):
    """A group, and what the same value brought in the window before (nothing where that was not read)."""

    value: str | None
    current: GroupTotals
    previous: GroupTotals = NOTHING


class Card(NamedTuple):
    """A program's totals by one dimension: the groups with the most revenue, and the sum of the others and of all."""

    dimension: Dimension
    groups: list[ComparedGroup]
    other_groups: int
    other: ComparedGroup
    total: ComparedGroup


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
    room = grouped_events.MOST_EVENTS
    window = report.scope.window
    first = window.last + _DAY
    if report.current.clicks + (report.previous.clicks if before else 0) <= room:
        return None
    room //= 2 if before else 1
    clicks = {day.date: day.totals.clicks for day in report.days}
    while first > window.first and (room := room - clicks[first - _DAY]) >= 0:
        first -= _DAY
    return Window(first, window.last)


def read_cards(
    connection: Connection, program_id: int, wanted: DateRangeQuery, query: BreakdownQuery, *, at: datetime
) -> tuple[list[Card], chart.Results]:
    """Return a card by each of a query's dimensions, and after filters the results' steps. Raises as a breakdown."""
    report = performance.read_performance(connection, program_id, wanted, at=at)
    is_hourly = report.scope.window.length == 1
    keys: list[Key] = [(each,) for each in query.by]
    parts: list[Key] = [(Dimension.HOUR if is_hourly else Dimension.DAY,)] if query.filters else []
    read = breakdown.read_each(connection, report.scope, [*keys, *parts], query.filters)
    codes = grouped_events.read_codes(connection, program_id)
    cards = [_card(breakdown.rank(key, each, codes, query), key) for key, each in zip(keys, read, strict=False)]
    earlier = breakdown.read_each(connection, report.before, parts, query.filters) if parts and wanted.before else []
    now = [step for each in read[len(keys) :] for step in _steps(report.scope.window, each, is_hourly=is_hourly)]
    then = [step for each in earlier for step in _steps(report.before.window, each, is_hourly=is_hourly)]
    current, previous = (metrics.added(metrics.Totals(), (step.totals for step in each)) for each in (now, then))
    return cards, chart.Results(report._replace(current=current, previous=previous), is_hourly, now, then)


def read_card(
    connection: Connection, program_id: int, wanted: DateRangeQuery, query: BreakdownQuery, *, at: datetime
) -> tuple[dict[str, str], Card]:
    """Return the names of partners by their codes, and a card beside the window before, if wanted."""
    *_, scope = performance.choose_period(connection, program_id, wanted, at=at)
    scopes = [scope, scope.compared(wanted)] if wanted.before else [scope]
    codes = grouped_events.read_codes(connection, program_id)
    read = [breakdown.read_each(connection, each, [query.by], query.filters)[0] for each in scopes]
    limits = (query.limit, MOST_GROUPS)
    now, *before = (
        breakdown.rank(query.by, each, codes, query._replace(limit=limit))
        for each, limit in zip(read, limits, strict=False)
    )
    return dict(codes.values()), _card(now, query.by, *before)


def _card(now: RankedGroups, by: Key, before: RankedGroups | None = None) -> Card:
    previous: Mapping[Any, GroupTotals] = {each.values: each.totals for each in before.groups} if before else {}
    groups = [ComparedGroup(each.values[0], each.totals, previous.get(each.values, NOTHING)) for each in now.groups]
    total = before.total if before else NOTHING
    counts = zip(total, *(each.previous for each in groups), strict=True)
    others = ComparedGroup(None, now.other, GroupTotals(*(whole - sum(parts) for whole, *parts in counts)))
    return Card(by[0], groups, now.other_groups, others, ComparedGroup(None, now.total, total))


def _steps(window: Window, read: grouped_events.Grouped, *, is_hourly: bool) -> list[chart.Step]:
    """Return the hours of a day, or the days of a window, also those without events."""
    length, begin = (_HOUR, 0) if is_hourly else (_DAY, (window.first - EPOCH).days)
    steps = []
    for n in range(24 if is_hourly else window.length):
        totals = read.groups.get((begin + n,), NOTHING)
        start = window.starts_at + n * length
        steps.append(chart.Step(start, start, totals.reported, totals.refunded_cents))
    return steps
