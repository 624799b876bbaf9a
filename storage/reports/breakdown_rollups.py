"""A breakdown of many clicks by one dimension, from the stored totals of each day (docs/decisions/0037)."""

from collections import defaultdict
from datetime import date, timedelta
from typing import Any, NamedTuple

from sqlalchemy import Connection, and_, case, func, select

from storage.reports.breakdown_increments import FEW_CLICKS
from storage.rules.periods.period import Window
from storage.rules.reports import dimension_totals
from storage.rules.reports.breakdown import OF_DAY, REPORTED, BreakdownQuery, Dimension, GroupTotals
from storage.rules.reports.dimension_totals import LACKING, OTHER, STORED, filled
from storage.tables import dimension_rollups, grouped_days, rollups

_EPOCH = date(1970, 1, 1)
_LAG = timedelta(days=1)  # an older day that is not grouped at all is yet to be: right after an upgrade
_NUMBERED = {Dimension.PARTNER, Dimension.HOUR}


class StoredGroups(NamedTuple):
    """Totals by stored value; `rest` has those of values that are not stored, and of the last events."""

    groups: dict[str | int | None, GroupTotals]
    rest: GroupTotals


def read_stored_groups(
    connection: Connection, program_id: int, window: Window, query: BreakdownQuery, *, today: date
) -> StoredGroups | None:
    """Return the window's groups; None where events have to be read: few clicks, filters, two dimensions."""
    dimension = query.by[0]
    if len(query.by) > 1 or query.filters or dimension not in {*STORED, *OF_DAY}:
        return None
    reported = _reported(connection, program_id, window, today)
    if reported is None:
        return None
    sums = _added(connection, program_id, window, dimension)
    other = sums.pop(OTHER, _zeros())
    kept = [sum(column) for column in zip(*sums.values(), strict=True)] or _zeros()
    rest = [whole - part for whole, part in zip(reported, kept, strict=False)]
    groups = {_value(dimension, key): GroupTotals(*counts) for key, counts in sums.items()}
    return StoredGroups(groups, GroupTotals(*rest, *other[len(rest) :]))


def _reported(connection: Connection, program_id: int, window: Window, today: date) -> list[int] | None:
    """Return the report's counts of the window; None if they are few, or a day before yesterday is not grouped."""
    day, grouped = rollups.c, grouped_days.c
    theirs = and_(grouped.program_id == day.program_id, grouped.day == day.day)
    late = func.sum(case((and_(grouped.phase.is_(None), day.day < today - _LAG), 1), else_=0))
    sums = select(late, *(func.sum(day[name]) for name in REPORTED)).select_from(
        rollups.outerjoin(grouped_days, theirs)
    )
    mine = (day.program_id == program_id, day.day.between(window.first, window.last))
    ungrouped, *counts = (int(count or 0) for count in connection.execute(sums.where(*mine)).one())
    return None if ungrouped or counts[0] <= FEW_CLICKS else counts


def _added(connection: Connection, program_id: int, window: Window, dimension: Dimension) -> dict[Any, list[int]]:
    """Return the sums of each value over the window's days."""
    row, by_day = dimension_rollups.c, OF_DAY.get(dimension)
    stored = Dimension.HOUR if by_day else dimension
    mine = (row.program_id == program_id, row.dimension == stored, row.day.between(window.first, window.last))
    visited: dict[Any, int] = {}  # most values of a day have clicks alone
    sums: defaultdict[Any, list[int]] = defaultdict(_zeros)
    for day, totals in connection.execute(select(row.day, row.totals).where(*mine)):
        of_day = by_day and by_day((day - _EPOCH).days)
        for value, counts in dimension_totals.read(totals).items():
            key = of_day if by_day else value
            if isinstance(counts, int):
                visited[key] = visited.get(key, 0) + counts
            else:
                sums[key] = [*map(sum, zip(sums[key], filled(counts), strict=True))]
    for key, clicks in visited.items():
        sums[key][0] += clicks
    return sums


def _value(dimension: Dimension, key: str | int) -> str | int | None:
    if dimension in _NUMBERED:
        return int(key)
    return key if key != LACKING else None


def _zeros() -> list[int]:
    return [0] * len(GroupTotals._fields)
