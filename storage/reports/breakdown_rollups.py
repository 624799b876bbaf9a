"""A breakdown of many clicks by one dimension, from the stored totals of each day (docs/decisions/0037)."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Any

from sqlalchemy import Connection, and_, case, func, select

from storage.reports.breakdown_increments import FEW_CLICKS
from storage.rules.periods.period import Window
from storage.rules.reports import dimension_totals
from storage.rules.reports.breakdown import OF_DAY, REPORTED, Dimension, GroupTotals
from storage.rules.reports.dimension_totals import LACKING, OTHER, STORED, filled
from storage.tables import dimension_rollups, grouped_days, rollups

_EPOCH = date(1970, 1, 1)
_LAG = timedelta(days=1)  # an older day that is not grouped at all is yet to be: right after an upgrade
_NUMBERED = {Dimension.PARTNER, Dimension.HOUR}


def read_stored_groups(
    connection: Connection, program_id: int, window: Window, dimensions: Sequence[Dimension], *, today: date
) -> dict[tuple[Dimension, ...], tuple[dict[tuple[Any], GroupTotals], GroupTotals]]:
    """Return the window's groups by each dimension that is stored, with the rest, which is in no group.

    None is where events have to be read: the window has few clicks, or is not grouped yet.
    """
    sources = {each: Dimension.HOUR if each in OF_DAY else each for each in dimensions}
    stored = {each: source for each, source in sources.items() if source in STORED}
    reported = _reported(connection, program_id, window, today) if stored else None
    if reported is None:
        return {}
    read: dict[tuple[Dimension, ...], tuple[dict[tuple[Any], GroupTotals], GroupTotals]] = {}
    for dimension, sums in _added(connection, program_id, window, stored).items():
        other = sums.pop(OTHER, _zeros())
        kept = [sum(column) for column in zip(*sums.values(), strict=True)] or _zeros()
        rest = [whole - part for whole, part in zip(reported, kept, strict=False)]
        groups = {(_value(dimension, key),): GroupTotals(*counts) for key, counts in sums.items()}
        read[(dimension,)] = (groups, GroupTotals(*rest, *other[len(rest) :]))
    return read


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


def _added(
    connection: Connection, program_id: int, window: Window, stored: Mapping[Dimension, Dimension]
) -> dict[Dimension, dict[Any, list[int]]]:
    """Return the sums of each value over the window's days, by each dimension, from where it is stored."""
    row = dimension_rollups.c
    days = (row.program_id == program_id, row.day.between(window.first, window.last))
    visited = {each: Counter[Any]() for each in stored}  # most values of a day have clicks alone
    sums = {each: defaultdict[Any, list[int]](_zeros) for each in stored}
    columns = select(row.dimension, row.day, row.totals).where(*days, row.dimension.in_({*stored.values()}))
    for source, day, totals in connection.execute(columns):
        read = dimension_totals.read(totals)
        for dimension in (each for each in stored if stored[each] == source):
            by_day = OF_DAY.get(dimension)
            of_day = by_day and by_day((day - _EPOCH).days)
            for value, counts in read.items():
                key = of_day if by_day else value
                if isinstance(counts, int):
                    visited[dimension][key] += counts
                else:
                    sums[dimension][key] = [*map(sum, zip(sums[dimension][key], filled(counts), strict=True))]
    for dimension, clicks in visited.items():
        for key, count in clicks.items():
            sums[dimension][key][0] += count
    return dict[Dimension, dict[Any, list[int]]](sums)


def _value(dimension: Dimension, key: str | int) -> str | int | None:
    if dimension in _NUMBERED:
        return int(key)
    return key if key != LACKING else None


def _zeros() -> list[int]:
    return [0] * len(GroupTotals._fields)
