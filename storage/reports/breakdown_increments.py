"""Adds up a day's events by dimension, as far as they have not been: a step at a time, for a background task to store.

Clicks are added once each, in the order of their ids; everything else of a day is counted again when it changed.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import Connection, and_, func, or_, select

from storage.reports import breakdown_events, grouped_events
from storage.reports.breakdown_events import CountableEvents
from storage.rules import keys
from storage.rules.periods.period import Window
from storage.rules.reports import dimension_totals
from storage.rules.reports.breakdown import Dimension
from storage.rules.reports.dimension_totals import DayStep, DayTotals, GroupedDay, Phase, filled
from storage.tables import clicks, dimension_rollups, grouped_days, rollups

FEW_CLICKS = 20_000  # breakdowns of fewer read the events themselves
CLICKS_AT_ONCE = 20_000
MARGIN = timedelta(seconds=10)  # a click's commit may be this late


class _Progress(NamedTuple):
    """What a step of a day starts from: its rollup, how far it is grouped, and up to which click it may go."""

    program_id: int
    window: Window
    clicks: int
    changes: int
    before: GroupedDay | None
    stop: str
    is_over: bool


def list_programs(connection: Connection) -> list[int]:
    """Return the programs with so many clicks that their days are grouped."""
    total = select(rollups.c.program_id).group_by(rollups.c.program_id).having(func.sum(rollups.c.clicks) > FEW_CLICKS)
    return list(connection.execute(total).scalars())


def next_step(connection: Connection, program_id: int, *, at: datetime) -> DayStep | None:
    """Return the next step of the program's newest day that has one; None: all is grouped, or has to wait."""
    row = clicks.c
    unfilled = select(row.click_id).where(row.program_id == program_id, row.dimensions.is_(None)).limit(1)
    if connection.execute(unfilled).first() is not None:
        return None
    steps = (_step(connection, each) for each in _candidates(connection, program_id, at))
    return next((step for step in steps if step is not None), None)


def _candidates(connection: Connection, program_id: int, at: datetime) -> Iterator[_Progress]:
    day, grouped = rollups.c, grouped_days.c
    theirs = and_(grouped.program_id == day.program_id, grouped.day == day.day)
    changed = or_(grouped.clicks != day.clicks, grouped.changes != day.changes)
    waiting = or_(grouped.phase.is_(None), grouped.phase != Phase.CLOSED, changed)
    columns = (day.day, day.clicks, day.changes, *(grouped[name] for name in GroupedDay._fields))
    rows = select(*columns).select_from(rollups.outerjoin(grouped_days, theirs)).where(day.program_id == program_id)
    ready = at - MARGIN
    for first, count, changes, phase, *state in connection.execute(rows.where(waiting).order_by(day.day.desc())).all():
        window = Window(first, first)
        is_over = ready > window.ends_at
        before = None if phase is None else GroupedDay(Phase(phase), *state)
        end = window.starts_at + timedelta(days=1) if is_over else max(ready, window.starts_at)
        yield _Progress(program_id, window, count, changes, before, keys.first_click_id(end), is_over)


def _step(connection: Connection, day: _Progress) -> DayStep | None:
    """Return the day's next step; None without anything new."""
    start = keys.first_click_id(day.window.starts_at)
    now = day.before or GroupedDay(Phase.OPEN, start, 0, 0)
    totals = _stored(connection, day)
    if now.phase == Phase.CLOSED and now.clicks != day.clicks:
        now = _recounted(now, start, totals)
    if now.changes != day.changes:
        dimension_totals.clear(totals, clicks=False)
        _add_others(connection, day, totals)
        now = now._replace(changes=day.changes)
    if now.phase != Phase.CLOSED:
        until, count = _add_clicks(connection, day, now.until, totals)
        now = now._replace(until=until, clicks=now.clicks + count) if count or day.is_over else now
        if day.is_over and until >= day.stop:
            now = _closed(now, day, start, totals)
    if now == day.before or (day.before is None and not any(totals.values()) and not day.is_over):
        return None
    return DayStep(day.program_id, day.window.first, day.before, now, dimension_totals.capped(totals))


def _closed(now: GroupedDay, day: _Progress, start: str, totals: DayTotals) -> GroupedDay:
    """Close a day whose clicks are all there; count it again, once, if a click was too late for its turn."""
    if now.phase == Phase.OPEN and now.clicks != day.clicks:
        return _recounted(now, start, totals)
    return now._replace(phase=Phase.CLOSED, clicks=day.clicks)


def _recounted(now: GroupedDay, start: str, totals: DayTotals) -> GroupedDay:
    dimension_totals.clear(totals, clicks=True)
    return now._replace(phase=Phase.RECOUNT, until=start, clicks=0)


def _stored(connection: Connection, day: _Progress) -> DayTotals:
    row = dimension_rollups.c
    mine = (row.program_id == day.program_id, row.dimension.in_(dimension_totals.STORED), row.day == day.window.first)
    rows = connection.execute(select(row.dimension, row.totals).where(*mine))
    stored = {
        Dimension(dimension): {value: filled(row) for value, row in dimension_totals.read(totals).items()}
        for dimension, totals in rows
    }
    return {dimension: stored.get(dimension, {}) for dimension in dimension_totals.STORED}


def _add_clicks(connection: Connection, day: _Progress, until: str, totals: DayTotals) -> tuple[str, int]:
    """Add the next clicks after `until`; return the new `until` and how many they were."""
    row = clicks.c
    (visits, *_) = breakdown_events.list_kinds(day.program_id, day.window)
    rest = (row.program_id == day.program_id, row.click_id > until, row.click_id < day.stop, *visits.counted)
    ordered = select(row.click_id).where(*rest).order_by(row.click_id)
    last = connection.execute(ordered.offset(CLICKS_AT_ONCE - 1).limit(1)).scalar()
    end = row.click_id <= (last or day.stop)
    return last or day.stop, _add(connection, [(visits, (*rest, end))], totals)


def _add_others(connection: Connection, day: _Progress, totals: DayTotals) -> None:
    """Add the day's signups, first purchases, sales and commissions."""
    (_, *others) = breakdown_events.list_kinds(day.program_id, day.window)
    _add(connection, [(events, events.inside(day.window)) for events in others], totals)


def _add(connection: Connection, kinds: Iterable[tuple[CountableEvents, Sequence[Any]]], totals: DayTotals) -> int:
    """Add events under conditions; return how many clicks were among them."""
    sums = grouped_events.no_sums((each,) for each in dimension_totals.STORED)
    for events, where in kinds:
        grouped_events.add(connection, events, sums, where)
    for (dimension,), groups in sums.items():
        for (value,), counts in groups.items():
            dimension_totals.add(totals[dimension], value, counts)
    return sum(counts[0] for counts in sums[Dimension.HOUR,].values())
