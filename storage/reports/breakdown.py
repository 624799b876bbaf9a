"""A report by one or two dimensions, from the stored totals of days (docs/decisions/0037) or from the events."""

import json
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import Connection, select

from storage.engine.statements import read_statement
from storage.reports import breakdown_increments, grouped_events, performance
from storage.reports.grouped_events import Codes, Grouped, Key, read_codes
from storage.reports.performance import ReportScope
from storage.rules.periods.period import DateRangeQuery, Window
from storage.rules.reports import metrics
from storage.rules.reports.breakdown import (
    EPOCH,
    NOTHING,
    OF_DAY,
    BreakdownGroup,
    BreakdownQuery,
    Dimension,
    Filters,
    GroupTotals,
    RankedGroups,
    label,
    ranked,
)
from storage.rules.reports.dimension_totals import LACKING, OTHER, STORED_AS
from storage.tables import dimension_rollups

_LAG = timedelta(days=1)  # an older day that is not grouped at all is yet to be: right after an upgrade
_COUNTS = read_statement("window_counts")
_NUMBERED = {Dimension.PARTNER, Dimension.HOUR}
NO_GROUPS = Grouped({})


class BreakdownResult(NamedTuple):
    """A report by the query's dimensions; what is not stored by value (rare ones, the last events) is one group.

    `names` are those of partners by their codes, where a dimension is the partner.
    """

    currency: str
    window: Window
    query: BreakdownQuery
    ranked: RankedGroups
    names: dict[str, str]


def read_breakdown(
    connection: Connection, program_id: int, wanted: DateRangeQuery, query: BreakdownQuery, *, at: datetime
) -> BreakdownResult:
    """Return a program's totals in a period, beside those of another one if the period has one to compare with.

    Raises InvalidPeriod, InvalidRange, NotFound, ValidationError.
    """
    currency, _, scope = performance.choose_period(connection, program_id, wanted, at=at)
    scopes = [scope, *([scope.compared(wanted)] if wanted.before else [])]
    read = [read_each(connection, each, [query.by], query.filters)[0] for each in scopes]
    codes = read_codes(connection, program_id) if Dimension.PARTNER in query.by else {}
    return BreakdownResult(currency, scope.window, query, rank(query, codes, *read), dict(codes.values()))


def read_each(
    connection: Connection, scope: ReportScope, keys: Sequence[Key], filters: Filters, *, most: int | None = None
) -> list[Grouped]:
    """Return totals by each key, stored or from one read of events. Raises ValidationError for too many of either."""
    is_narrowed = filters or scope.partner_id is not None
    stored = {} if is_narrowed else {each: STORED_AS[each] for each, *rest in keys if not rest and each in STORED_AS}
    reported = _reported(connection, scope) if stored else None
    read = _read_stored_groups(connection, scope, stored, reported) if reported else {}
    rest = [key for key in keys if key not in read]
    if rest:
        read |= grouped_events.read_by_each(connection, scope, rest, filters, most=most)
    return [read[key] for key in keys]


def rank(query: BreakdownQuery, codes: Codes, read: Grouped, before: Grouped = NO_GROUPS) -> RankedGroups:
    """Return groups in the order of a query, with their values as people read them."""
    groups = []
    for values, totals in read.groups.items():
        pairs = zip(query.by, values, strict=True)
        named = (codes[value][0] if each == Dimension.PARTNER else label(each, value) for each, value in pairs)
        groups.append(BreakdownGroup(tuple(named), totals, before.groups.get(values, NOTHING)))
    return ranked(groups, query, read.rest, metrics.added(before.rest, before.groups.values()))


def _read_stored_groups(
    connection: Connection, scope: ReportScope, stored: Mapping[Dimension, Dimension], reported: Sequence[int]
) -> dict[Key, Grouped]:
    """Return the groups by each dimension, from where it is stored, and what a report has beyond them."""
    read: dict[Key, Grouped] = {}
    for dimension, sums in _added(connection, scope, stored).items():
        other = sums.pop(OTHER, [*NOTHING])
        kept = [sum(column) for column in zip(*sums.values(), strict=True)] or [*NOTHING]
        rest = [whole - part for whole, part in zip(reported, kept, strict=False)]
        value: Callable[[Any], Any] = int if dimension in _NUMBERED else lambda key: None if key == LACKING else key
        groups = {(value(key),): GroupTotals(*counts) for key, counts in sums.items()}
        read[(dimension,)] = Grouped(groups, GroupTotals(*rest, *other[len(rest) :]))
    return read


def _reported(connection: Connection, scope: ReportScope) -> list[int] | None:
    """Return the report's counts of the window; None if they are few, or a day before yesterday is not grouped."""
    row = connection.execute(_COUNTS, scope.values | {"end_day": scope.at.date() - _LAG}).one()
    ungrouped, *counts = (int(count or 0) for count in row)
    return None if ungrouped or counts[0] <= breakdown_increments.FEW_CLICKS else counts


def _added(
    connection: Connection, scope: ReportScope, stored: Mapping[Dimension, Dimension]
) -> Mapping[Dimension, dict[Any, list[int]]]:
    """Return the sums of each value over the window's days, by each dimension, from where it is stored."""
    row = dimension_rollups.c
    days = (row.program_id == scope.program_id, row.day.between(*scope.window))
    sums = {each: defaultdict[Any, list[int]](lambda: [*NOTHING]) for each in stored}
    columns = select(row.dimension, row.day, row.totals).where(*days, row.dimension.in_({*stored.values()}))
    for source, day, totals in connection.execute(columns):
        read = json.loads(totals)
        for dimension in (each for each in stored if stored[each] == source):
            by_day = OF_DAY.get(dimension)
            of_day = by_day and by_day((day - EPOCH).days)
            for value, counts in read.items():
                total = sums[dimension][of_day if by_day else value]
                if isinstance(counts, int):  # clicks alone, as most values of a day have
                    total[0] += counts
                else:
                    for place, count in enumerate(counts):
                        total[place] += count
    return sums
