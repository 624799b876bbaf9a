"""A program's report of a period by one or two dimensions, from stored totals, or from events up to a bound."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, Connection, column, func, null, select, type_coerce

from storage.engine.database import JsonField
from storage.reports import breakdown_events, breakdown_rollups, performance
from storage.reports.breakdown_events import CountableEvents
from storage.rules.errors import FieldError, ValidationError
from storage.rules.periods.period import DateRangeQuery, Window
from storage.rules.reports.breakdown import LABELS, OF_BUYERS, BreakdownQuery, Dimension, GroupTotals, Metric, label
from storage.tables import clicks, partners
from storage.tables.columns import to_millis

MOST_EVENTS = 500_000  # of each kind, see docs/decisions/0029-breakdowns.md
MOST_GROUPS = 100_000
_HOUR_MILLIS = 3_600_000
_DAY_MILLIS = 24 * _HOUR_MILLIS
_Sums = defaultdict[tuple[Any, ...], list[int]]


class BreakdownGroup(NamedTuple):
    """The totals of one combination of values, in the order of the query's dimensions; None: the events lack it."""

    values: tuple[str | None, ...]
    totals: GroupTotals


class BreakdownResult(NamedTuple):
    """The groups with the most of the sort's metric, the sum of the `other_groups` beyond them, and the sum of all.

    What is not stored by value counts as one other group: rare values of a day with many, and the last events.
    """

    program_id: int
    currency: str
    window: Window
    query: BreakdownQuery
    groups: list[BreakdownGroup]
    other_groups: int
    other: GroupTotals
    total: GroupTotals


def read_breakdown(
    connection: Connection,
    program_id: int,
    wanted: DateRangeQuery,
    query: BreakdownQuery,
    *,
    at: datetime,
    most_events: int | None = None,
) -> BreakdownResult:
    """Return a program's totals in a period by the query's dimensions; without filters their sum is the report's.

    Raises InvalidPeriod, InvalidRange; NotFound if there is no such program; ValidationError if there is too much.
    """
    currency, chosen = performance.choose_period(connection, program_id, wanted, at=at)
    window = chosen.window
    enrolled = select(partners.c.id, partners.c.code).where(partners.c.program_id == program_id)
    needs_codes = Dimension.PARTNER in {*query.by, *query.filters}
    codes = {row.id: row.code for row in connection.execute(enrolled)} if needs_codes else {}
    stored = breakdown_rollups.read_stored_groups(connection, program_id, window, query, today=at.date())
    if stored is None:
        sums, rest = _read(connection, program_id, window, query, codes, most=most_events or MOST_EVENTS), GroupTotals()
    else:
        sums, rest = {(value,): totals for value, totals in stored.groups.items()}, stored.rest
    groups = [BreakdownGroup(_labels(query, values, codes), totals) for values, totals in sums.items()]
    groups.sort(key=lambda group: _rank(group, query.sort))
    total = added([rest, *(group.totals for group in groups)])
    others = 1 if any(rest) else 0
    whole = BreakdownResult(program_id, currency, window, query, groups, others, rest, total)
    return shortened(whole, query.limit)


def shortened(result: BreakdownResult, rows: int) -> BreakdownResult:
    """Return a breakdown with fewer groups; the rest is added to `other`."""
    rest = result.groups[rows:]
    other = added((result.other, *(group.totals for group in rest)))
    return result._replace(groups=result.groups[:rows], other_groups=result.other_groups + len(rest), other=other)


def added(totals: Iterable[GroupTotals]) -> GroupTotals:
    """Return the sum of totals."""
    return GroupTotals(*map(sum, zip(*totals, strict=True)))


def negated(totals: GroupTotals) -> GroupTotals:
    """Return totals that take these away from a sum."""
    return GroupTotals(*(-count for count in totals))


def _read(
    connection: Connection,
    program_id: int,
    window: Window,
    query: BreakdownQuery,
    codes: Mapping[int, str],
    *,
    most: int,
) -> dict[tuple[Any, ...], GroupTotals]:
    """Return the totals of each combination of values, from the events."""
    sums: _Sums = defaultdict(lambda: [0] * len(GroupTotals._fields))
    lacking = {*query.by, *query.filters} <= {*OF_BUYERS}  # clicks lack all of these: they need not be read
    for events in breakdown_events.list_kinds(program_id, window):
        if lacking and events.table is clicks:
            if not any(value is not None for value in query.filters.values()):
                reported = performance.read_days(connection, program_id, window).values()
                sums[(None,) * len(query.by)][0] += sum(day.clicks for day in reported)
            continue
        _require_bounded(connection, events, most)
        _add(connection, _grouped(events, query, window, codes), events, sums)
    return {values: GroupTotals(*totals) for values, totals in sums.items()}


def _require_bounded(connection: Connection, events: CountableEvents, most: int) -> None:
    some = select(events.table.c.program_id).where(*events.near).limit(most + 1).subquery()
    if connection.execute(select(func.count()).select_from(some)).scalar_one() > most:
        raise _too_much("period", f"Too many events: at most {most:,} of a kind are read. Choose a shorter one")


def _grouped(events: CountableEvents, query: BreakdownQuery, window: Window, codes: Mapping[int, str]) -> Any:
    """Return the statement of a kind's sums for each combination of values."""
    at = type_coerce(events.at, BigInteger)
    inside = at.between(to_millis(window.starts_at), to_millis(window.ends_at))
    wanted = [_equals(events, dimension, value, codes) for dimension, value in query.filters.items()]
    values = [_value(events, dimension).label(f"value_{n}") for n, dimension in enumerate(query.by)]
    named: list[Any] = [column(value.name) for value in values]  # PostgreSQL groups by no constant
    grouped = select(*values, *events.sums.values()).select_from(events.source)
    return grouped.where(*events.near, *events.counted, inside, *wanted).group_by(*named).limit(MOST_GROUPS + 1)


def _add(connection: Connection, grouped: Any, events: CountableEvents, sums: _Sums) -> None:
    places = [GroupTotals._fields.index(name) for name in events.sums]
    for row in connection.execute(grouped):
        totals = sums[tuple(row[: -len(places)])]
        for place, count in zip(places, row[-len(places) :], strict=True):
            totals[place] += int(count)
    if len(sums) > MOST_GROUPS:
        raise _too_much("by", f"Too many groups: at most {MOST_GROUPS:,} are read. Filter them, or shorten the period")


def _too_much(field: str, message: str) -> ValidationError:
    return ValidationError(fields=[FieldError(field, message)])


def _value(events: CountableEvents, dimension: Dimension) -> Any:
    """Return the stored value of a dimension: of the event itself, or of the click that its customer came with."""
    if dimension in OF_BUYERS:
        return events.own.get(dimension, null())
    at = type_coerce(events.at, BigInteger)
    of_event = {
        Dimension.PARTNER: events.table.c.partner_id,
        Dimension.REFERRER: clicks.c.referrer_host,
        Dimension.HOUR: at // _HOUR_MILLIS % len(LABELS[Dimension.HOUR]),
        Dimension.WEEKDAY: (at // _DAY_MILLIS + 3) % len(LABELS[Dimension.WEEKDAY]),  # 1970 began on a Thursday
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


def _rank(group: BreakdownGroup, sort: Metric) -> tuple[Any, ...]:
    """Return what orders the groups: most of the metric first, then most clicks, then by name."""
    return (-group.totals.figure(sort), -group.totals.clicks, *(value or "" for value in group.values))
