"""Explore: a program's results, those that pass filters, and cards by some dimensions from one read of the events."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import Connection

from storage.reports import breakdown, chart, grouped_events, performance
from storage.rules.periods.period import DateRangeQuery, Window
from storage.rules.reports import metrics
from storage.rules.reports.breakdown import EPOCH, NOTHING, Dimension, Filters, GroupTotals, RankedGroups

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
    window = report.window
    first = report.window.last + _DAY
    if report.current.clicks + (report.previous.clicks if before else 0) <= room:
        return None
    room //= 2 if before else 1
    clicks = {day.date: day.totals.clicks for day in report.days}
    while first > window.first and (room := room - clicks[first - _DAY]) >= 0:
        first -= _DAY
    return Window(first, window.last)


def read_cards(
    connection: Connection,
    program_id: int,
    wanted: DateRangeQuery,
    dimensions: Sequence[Dimension],
    filters: Filters,
    *,
    rows: int,
    at: datetime,
) -> tuple[list[Card], chart.Results]:
    """Return a card for each dimension, and after filters the results' steps. Raises as `read_breakdown` does."""
    report = performance.read_performance(connection, program_id, wanted, at=at)
    is_hourly = report.window.length == 1
    keys: list[grouped_events.Key] = [(each,) for each in dimensions]
    parts: list[grouped_events.Key] = [(Dimension.HOUR if is_hourly else Dimension.DAY,)] if filters else []
    scope = performance.ReportScope(program_id, report.window, at)
    read = breakdown.read_each(connection, scope, [*keys, *parts], filters)
    codes = grouped_events.read_codes(connection, program_id)
    cards = [_card(key[0], breakdown.rank(key, each, codes), rows) for key, each in zip(keys, read, strict=False)]
    before = wanted.before if parts else None
    earlier = breakdown.read_each(connection, scope._replace(window=before), parts, filters) if before else []
    now = [step for each in read[len(keys) :] for step in _steps(report.window, each, is_hourly=is_hourly)]
    then = [step for each in earlier for step in _steps(report.previous_window, each, is_hourly=is_hourly)]
    current, previous = (metrics.added(metrics.Totals(), (step.totals for step in each)) for each in (now, then))
    return cards, chart.Results(report._replace(current=current, previous=previous), is_hourly, now, then)


def read_card(
    connection: Connection,
    program_id: int,
    wanted: DateRangeQuery,
    by: Dimension,
    filters: Filters,
    *,
    rows: int,
    at: datetime,
) -> tuple[dict[str, str], Card]:
    """Return the names of partners by their codes, and a card beside the window before, if wanted."""
    _, _, window = performance.choose_period(connection, program_id, wanted, at=at)
    scopes = [performance.ReportScope(program_id, each, at) for each in (window, wanted.before) if each]
    read = [breakdown.read_each(connection, each, [(by,)], filters)[0] for each in scopes]
    codes = grouped_events.read_codes(connection, program_id)
    now, *before = (breakdown.rank((by,), each, codes) for each in read)
    return dict(codes.values()), _card(by, now, rows, *before)


def _card(by: Dimension, now: RankedGroups, rows: int, before: RankedGroups | None = None) -> Card:
    previous: Mapping[Any, GroupTotals] = {each.values: each.totals for each in before.groups} if before else {}
    shown = now.shortened(rows)
    groups = [ComparedGroup(each.values[0], each.totals, previous.get(each.values, NOTHING)) for each in shown.groups]
    total = before.total if before else NOTHING
    counts = zip(total, *(each.previous for each in groups), strict=True)
    others = ComparedGroup(None, shown.other, GroupTotals(*(whole - sum(parts) for whole, *parts in counts)))
    return Card(by, groups, shown.other_groups, others, ComparedGroup(None, shown.total, total))


def _steps(window: Window, read: grouped_events.Grouped, *, is_hourly: bool) -> list[chart.Step]:
    """Return the hours of a day, or the days of a window, also those without events."""
    length, begin = (_HOUR, 0) if is_hourly else (_DAY, (window.first - EPOCH).days)
    steps = []
    for n in range(24 if is_hourly else window.length):
        totals = read.groups.get((begin + n,), NOTHING)
        start = window.starts_at + n * length
        steps.append(chart.Step(start, start, totals.reported, totals.refunded_cents))
    return steps
