"""A program's report of a period by one or two dimensions, from stored totals, or from events up to a bound."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection

from storage.reports import breakdown_rollups, grouped_events, performance
from storage.reports.grouped_events import Codes, Grouped, Key, read_codes
from storage.rules.periods.period import DateRangeQuery, Window
from storage.rules.reports.breakdown import (
    BreakdownGroup,
    BreakdownQuery,
    Dimension,
    Filters,
    RankedGroups,
    label,
    ranked,
)


class BreakdownResult(NamedTuple):
    """A report by the query's dimensions.

    What is not stored by value counts as one other group: rare values of a day with many, and the last events.
    """

    currency: str
    window: Window
    query: BreakdownQuery
    ranked: RankedGroups


def read_breakdown(
    connection: Connection, program_id: int, wanted: DateRangeQuery, query: BreakdownQuery, *, at: datetime
) -> BreakdownResult:
    """Return a program's totals in a period by the query's dimensions; without filters their sum is the report's.

    Raises InvalidPeriod, InvalidRange; NotFound if there is no such program; ValidationError if there is too much.
    """
    currency, chosen = performance.choose_period(connection, program_id, wanted, at=at)
    return BreakdownResult(
        currency, chosen.window, query, read_groups(connection, program_id, chosen.window, query, at=at)
    )


def read_groups(
    connection: Connection,
    program_id: int,
    window: Window,
    query: BreakdownQuery,
    *,
    at: datetime,
    most_events: int | None = None,
) -> RankedGroups:
    """Return a program's totals in a window. Raises ValidationError if there are too many events of a kind."""
    codes = read_codes(connection, program_id) if Dimension.PARTNER in query.by else {}
    (read,) = read_each(connection, program_id, window, [query.by], query.filters, at=at, most=most_events)
    return ranked(labelled(query.by, read, codes), query, read.rest)


def read_each(
    connection: Connection,
    program_id: int,
    window: Window,
    keys: Sequence[Key],
    filters: Filters,
    *,
    at: datetime,
    most: int | None = None,
) -> list[Grouped]:
    """Return a program's totals in a window by each of some keys: stored ones, and the others by one read of events.

    Raises ValidationError if there are too many events of a kind, or too many groups.
    """
    single = [] if filters else [key[0] for key in keys if len(key) == 1]
    stored = breakdown_rollups.read_stored_groups(connection, program_id, window, single, today=at.date())
    rest = [key for key in keys if key not in stored]
    read: dict[Key, Grouped] = {key: Grouped(*found) for key, found in stored.items()}
    if rest:
        read |= grouped_events.read_by_each(connection, program_id, window, rest, filters, most=most)
    return [read[key] for key in keys]


def labelled(key: Key, read: Grouped, codes: Codes) -> Iterable[BreakdownGroup]:
    """Yield groups with their values as people read them."""
    for values, totals in read.groups.items():
        pairs = zip(key, values, strict=True)
        named = (codes[value][0] if each == Dimension.PARTNER else label(each, value) for each, value in pairs)
        yield BreakdownGroup(tuple(named), totals)
