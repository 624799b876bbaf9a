"""The events of a month that reports count, with their value of every dimension, for analytics elsewhere."""

import json
from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy import Connection, Select, column, select

from storage.reports import breakdown_events
from storage.reports.breakdown_events import CountableEvents
from storage.rules.periods.month import Month
from storage.rules.periods.period import Window
from storage.rules.reports.breakdown import LABELS, OF_BUYERS, OF_DAY, Dimension, GroupTotals, label
from storage.tables import clicks, partners, programs
from storage.tables.columns import DAY_MILLIS, from_millis

ROWS_AT_ONCE = 20_000
KINDS = ("click", "lead", "conversion", "sale", "commission")
METRICS = GroupTotals._fields


class EventChunk(NamedTuple):
    """Rows in the order of their keys, and the last key; None: there are no more of this kind."""

    rows: list[dict[str, Any]]
    last: Any


class ExportedProgram(NamedTuple):
    """What the rows of a program have in common, and the codes of its partners."""

    id: int
    currency: str
    codes: dict[int, str]


def list_programs(connection: Connection) -> list[ExportedProgram]:
    """Return the programs that are no sandboxes."""
    live = select(programs.c.id, programs.c.currency).where(programs.c.sandbox_of.is_(None)).order_by(programs.c.id)
    codes: dict[int, dict[int, str]] = {}
    for row in connection.execute(select(partners.c.program_id, partners.c.id, partners.c.code)):
        codes.setdefault(row.program_id, {})[row.id] = row.code
    return [ExportedProgram(row.id, row.currency, codes.get(row.id, {})) for row in connection.execute(live)]


def read_chunk(connection: Connection, program: ExportedProgram, month: Month, kind: str, *, after: Any) -> EventChunk:
    """Return the next events of a kind behind the key `after` (None: the first); metrics that are 0 are left out."""
    window = Window(month.starts_at.date(), month.last_day)
    events = dict(zip(KINDS, breakdown_events.list_kinds(program.id, window), strict=True))[kind]
    key = events.table.c.click_id if kind == "click" else events.table.c.id
    chosen = [*events.inside(window), *([] if after is None else [key > after])]
    ordered = select(key).select_from(events.table).where(*chosen).order_by(key)
    last = connection.execute(ordered.offset(ROWS_AT_ONCE - 1).limit(1)).scalar()
    if last is not None:
        chosen.append(key <= last)
    rows = connection.execute(_values(events, key).where(*chosen))
    return EventChunk([_row(program, kind, row) for row in rows.mappings()], last)


def _values(events: CountableEvents, key: Any) -> Select[Any]:
    """Return the statement of the events' values: each event is a group, so that the sums are those of reports."""
    own = [events.own[each].label(each.value) for each in OF_BUYERS if each in events.own]
    shared = [events.table.c.partner_id, clicks.c.referrer_host, clicks.c.dimensions]
    values = [key.label("key"), events.millis.label("millis"), *shared, *own]
    sums = [total.label(name) for name, total in events.sums.items()]
    named: list[Any] = [*values[:5], *(column(each.name) for each in own)]  # PostgreSQL groups by no constant
    return select(*values, *sums).select_from(events.source).group_by(*named).order_by(key)


def _row(program: ExportedProgram, kind: str, row: Any) -> dict[str, Any]:
    at = from_millis(row["millis"])
    values: dict[Dimension, Any] = {
        Dimension.PARTNER: program.codes[row["partner_id"]],
        Dimension.REFERRER: row["referrer_host"],
        Dimension.HOUR: LABELS[Dimension.HOUR][at.hour],
        **{each: label(each, number(row["millis"] // DAY_MILLIS)) for each, number in OF_DAY.items()},
        **{each: label(each, row.get(each.value)) for each in OF_BUYERS},
    }
    named = {each.value: value for each, value in values.items() if value is not None}
    about = {"program_id": program.id, "currency": program.currency, "kind": kind, "at": f"{at:%Y-%m-%d %H:%M:%S.%f}"}
    counts = {name: int(row[name]) for name in METRICS if row.get(name)}
    return about | _parsed(row["dimensions"]) | named | counts


@lru_cache(maxsize=4096)  # many clicks have the same values
def _parsed(dimensions: str | None) -> dict[str, str]:
    return json.loads(dimensions) if dimensions else {}
