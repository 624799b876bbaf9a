"""A program's report of a period by one or two dimensions, from stored totals, or from events up to a bound."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, column, func, null, select

from storage.engine.database import JsonField
from storage.reports import breakdown_events, breakdown_rollups, performance
from storage.reports.breakdown_events import HOUR_MILLIS, CountableEvents
from storage.rules.errors import FieldError, ValidationError
from storage.rules.periods.period import DateRangeQuery, Window
from storage.rules.reports.breakdown import (
    NOTHING,
    OF_BUYERS,
    OF_DAY,
    BreakdownGroup,
    BreakdownQuery,
    Dimension,
    GroupTotals,
    RankedGroups,
    label,
    ranked,
)
from storage.tables import clicks, partners

MOST_EVENTS = 500_000  # of each kind, see docs/decisions/0029-breakdowns.md
MOST_GROUPS = 100_000
_DAY_MILLIS = 24 * HOUR_MILLIS
_Totals = dict[tuple[Any, ...], GroupTotals]


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
    enrolled = select(partners.c.id, partners.c.code).where(partners.c.program_id == program_id)
    needs_codes = Dimension.PARTNER in {*query.by, *query.filters}
    codes = {row.id: row.code for row in connection.execute(enrolled)} if needs_codes else {}
    stored = breakdown_rollups.read_stored_groups(connection, program_id, window, query, today=at.date())
    totals: _Totals
    if stored is None:
        totals, rest = (
            _read_events(connection, program_id, window, query, codes, most=most_events or MOST_EVENTS),
            NOTHING,
        )
    else:
        totals, rest = {(value,): totals for value, totals in stored.groups.items()}, stored.rest
    groups = (BreakdownGroup(_labels(query, values, codes), sums) for values, sums in totals.items())
    return ranked(groups, query, rest)


def _read_events(
    connection: Connection,
    program_id: int,
    window: Window,
    query: BreakdownQuery,
    codes: Mapping[int, str],
    *,
    most: int,
) -> _Totals:
    """Return the totals of each combination of values, from the events."""
    sums = defaultdict[tuple[Any, ...], list[int]](lambda: [0] * len(GroupTotals._fields))
    lacking = {*query.by, *query.filters} <= {*OF_BUYERS}  # clicks lack all of these: they need not be read
    width = len(query.by)
    for events in breakdown_events.list_kinds(program_id, window):
        if lacking and events.table is clicks:
            if not any(value is not None for value in query.filters.values()):
                reported = performance.read_days(connection, program_id, window).values()
                sums[(None,) * width][0] += sum(day.clicks for day in reported)
            continue
        some = select(events.table.c.program_id).where(*events.near).limit(most + 1).subquery()
        if connection.execute(select(func.count()).select_from(some)).scalar_one() > most:
            wrong = f"Too many events: at most {most:,} of a kind are read. Choose a shorter one"
            raise ValidationError(fields=[FieldError("period", wrong)])
        places = [GroupTotals._fields.index(name) for name in events.sums]
        for row in connection.execute(_grouped(events, query, window, codes)):
            totals = sums[tuple(row[:width])]
            for place, count in zip(places, row[width:], strict=True):
                totals[place] += int(count)
        if len(sums) > MOST_GROUPS:
            wrong = f"Too many groups: at most {MOST_GROUPS:,} are read. Filter them, or shorten the period"
            raise ValidationError(fields=[FieldError("by", wrong)])
    return {values: GroupTotals(*totals) for values, totals in sums.items()}


def _grouped(events: CountableEvents, query: BreakdownQuery, window: Window, codes: Mapping[int, str]) -> Any:
    """Return the statement of a kind's sums for each combination of values."""
    wanted = [_equals(events, dimension, value, codes) for dimension, value in query.filters.items()]
    values = [_value(events, dimension).label(f"value_{n}") for n, dimension in enumerate(query.by)]
    named: list[Any] = [column(value.name) for value in values]  # PostgreSQL groups by no constant
    grouped = select(*values, *events.sums.values()).select_from(events.source)
    return grouped.where(*events.inside(window), *wanted).group_by(*named).limit(MOST_GROUPS + 1)


def _value(events: CountableEvents, dimension: Dimension) -> Any:
    """Return the stored value of a dimension: of the event itself, or of the click that its customer came with."""
    if dimension in OF_BUYERS:
        return events.own.get(dimension, null())
    of_event = {
        Dimension.PARTNER: events.table.c.partner_id,
        Dimension.REFERRER: clicks.c.referrer_host,
        Dimension.HOUR: events.hour,
        **{each: number(events.millis // _DAY_MILLIS) for each, number in OF_DAY.items()},
    }
    return of_event[dimension] if dimension in of_event else JsonField(clicks.c.dimensions, dimension.value)


def _equals(events: CountableEvents, dimension: Dimension, value: str | int | None, codes: Mapping[int, str]) -> Any:
    stored = _value(events, dimension)
    if dimension == Dimension.PARTNER:
        return stored.in_([partner_id for partner_id, code in codes.items() if code == value])
    return stored.is_(None) if value is None else stored == value


def _labels(query: BreakdownQuery, values: Sequence[Any], codes: Mapping[int, str]) -> tuple[str | None, ...]:
    pairs = zip(query.by, values, strict=True)
    return tuple(codes[value] if each == Dimension.PARTNER else label(each, value) for each, value in pairs)
