"""Adds up a day's events by dimension, as far as they have not been: a step at a time, for a background task."""

import json
from collections.abc import Iterable, Sequence
from datetime import date, datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Date, func, select

from storage.engine.statements import read_statement
from storage.reports import breakdown_events, grouped_events
from storage.reports.breakdown_events import CountableEvents
from storage.rules import keys
from storage.rules.periods.period import Window
from storage.rules.reports import dimension_totals
from storage.rules.reports.breakdown import Dimension
from storage.rules.reports.dimension_totals import LACKING, STORED, DayStep, DayTotals, GroupedDay, filled
from storage.tables import clicks, dimension_rollups, rollups

_DAYS = read_statement("days_to_group", day=Date)
FEW_CLICKS = 20_000  # breakdowns of fewer read the events themselves
CLICKS_AT_ONCE = 20_000
MARGIN = timedelta(seconds=10)  # a click's commit may be this late


def list_programs(connection: Connection) -> list[int]:
    """Return the programs with so many clicks that their days are grouped."""
    total = select(rollups.c.program_id).group_by(rollups.c.program_id).having(func.sum(rollups.c.clicks) > FEW_CLICKS)
    return list(connection.execute(total).scalars())


def next_step(connection: Connection, program_id: int, *, at: datetime) -> DayStep | None:
    """Return the next step of the program's newest day that has one; None: all is grouped, or has to wait."""
    rows = connection.execute(_DAYS, {"program_id": program_id}).all()
    return next(filter(None, (_step(connection, program_id, each, at - MARGIN) for each in rows)), None)


def _step(connection: Connection, program_id: int, row: Any, ready: datetime) -> DayStep | None:
    """Return the next step of a day, up to the clicks that are `ready`; None without anything new."""
    day, clicks_of_day, changes, *state = row
    before = None if state[0] is None else GroupedDay(*state)
    window = Window(day, day)
    begin, end = window.starts_at, window.starts_at + timedelta(days=1)
    start = keys.first_click_id(begin)
    stop = keys.first_click_id(min(max(ready, begin), end))
    now = before or GroupedDay(start, 0, 0)
    totals = _stored(connection, program_id, day)
    visits, *others = breakdown_events.list_kinds(program_id, window)
    if now.changes != changes:  # then all but clicks is counted again
        dimension_totals.clear(totals, clicks=False)
        _add(connection, [(events, events.inside(window)) for events in others], totals)
        now = now._replace(changes=changes)
    if now.clicks != clicks_of_day and ready >= end and now.until == stop:  # some came late, or are deleted by now
        there = select(func.count()).select_from(clicks).where(*visits.near, *visits.counted)
        if connection.execute(there).scalar_one() == now.clicks:
            now = now._replace(clicks=clicks_of_day)
        else:
            dimension_totals.clear(totals, clicks=True)
            now = now._replace(until=start, clicks=0)
    if now.clicks != clicks_of_day:  # each is added once, in the order of their ids
        click_id = clicks.c.click_id
        rest = (*visits.near, *visits.counted, click_id > now.until, click_id < stop)
        further = select(click_id).where(*rest).order_by(click_id).offset(CLICKS_AT_ONCE - 1).limit(1)
        until = connection.execute(further).scalar() or stop
        count = _add(connection, [(visits, (*rest, click_id <= until))], totals)
        now = now._replace(until=until, clicks=now.clicks + count) if count or ready >= end else now
    if now == before or (before is None and not any(totals.values()) and ready < end):
        return None
    return DayStep(program_id, day, before, now, {each: dimension_totals.capped(totals[each]) for each in totals})


def _stored(connection: Connection, program_id: int, day: date) -> DayTotals:
    row = dimension_rollups.c
    mine = (row.program_id == program_id, row.dimension.in_(STORED), row.day == day)
    stored: DayTotals = {dimension: {} for dimension in STORED}
    for dimension, totals in connection.execute(select(row.dimension, row.totals).where(*mine)):
        stored[Dimension(dimension)] = {value: filled(each) for value, each in json.loads(totals).items()}
    return stored


def _add(connection: Connection, kinds: Iterable[tuple[CountableEvents, Sequence[Any]]], totals: DayTotals) -> int:
    """Add events under conditions; return how many clicks were among them."""
    sums = grouped_events.no_sums((each,) for each in STORED)
    for events, where in kinds:
        grouped_events.add(connection, events, sums, where)
    for (dimension,), groups in sums.items():
        rows = totals[dimension]
        for (value,), counts in groups.items():
            stored = str(value) if value is not None else LACKING
            rows[stored] = [*map(sum, zip(rows.get(stored, [0] * len(counts)), counts, strict=True))]
    return sum(counts[0] for counts in sums[Dimension.HOUR,].values())
