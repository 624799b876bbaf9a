"""The events of a month that reports count, with their value of every dimension, for analytics elsewhere."""

import json
from functools import lru_cache, partial
from typing import Any, NamedTuple

from sqlalchemy import Connection, select

from storage.reports import breakdown_events, grouped_events
from storage.rules.periods.period import Month
from storage.rules.reports.breakdown import Dimension, GroupTotals, label
from storage.tables import clicks, programs
from storage.tables.columns import from_millis

ROWS_AT_ONCE = 20_000
KINDS = ("click", "lead", "conversion", "sale", "commission")


class ExportedProgram(NamedTuple):
    """What the rows of a program have in common, and its partners."""

    id: int
    currency: str
    codes: grouped_events.Codes


def list_programs(connection: Connection) -> list[ExportedProgram]:
    """Return the programs that are no sandboxes."""
    live = select(programs.c.id, programs.c.currency).where(programs.c.sandbox_of.is_(None)).order_by(programs.c.id)
    read = partial(grouped_events.read_codes, connection)
    return [ExportedProgram(row.id, row.currency, read(row.id)) for row in connection.execute(live).all()]


def read_chunk(
    connection: Connection, program: ExportedProgram, month: Month, kind: str, *, after: Any
) -> tuple[list[dict[str, Any]], Any]:
    """Return the next events of a kind after a key (None: the first), and the key of the last one (None: no more)."""
    events = dict(zip(KINDS, breakdown_events.list_kinds(program.id, month.window), strict=True))[kind]
    key = events.table.c.click_id if kind == "click" else events.table.c.id
    chosen = [*events.inside(month.window), *([] if after is None else [key > after])]
    ordered = select(key).select_from(events.table).where(*chosen).order_by(key)
    last = connection.execute(ordered.offset(ROWS_AT_ONCE - 1).limit(1)).scalar()
    if last is not None:
        chosen.append(key <= last)
    own = grouped_events.own_columns(events)
    named = [column.label(name) for name, column in (*own.items(), *events.amounts.items())]
    columns = select(events.millis.label("millis"), clicks.c.dimensions, *named)
    rows = connection.execute(columns.select_from(events.source).where(*chosen).order_by(key)).mappings()
    return [_row(program, kind, [*own], row) for row in rows], last


def _row(program: ExportedProgram, kind: str, own: list[Dimension], row: Any) -> dict[str, Any]:
    at = from_millis(row["millis"])
    values = {each: label(each, row[each]) for each in own if row[each] is not None}
    about = {"program_id": program.id, "currency": program.currency, "kind": kind, "at": f"{at:%Y-%m-%d %H:%M:%S.%f}"}
    counts = {name: int(row[name]) for name in GroupTotals._fields if row.get(name)}
    return about | _parsed(row["dimensions"]) | values | {Dimension.PARTNER: program.codes[row["partner"]][0]} | counts


@lru_cache(maxsize=4096)  # many clicks have the same values
def _parsed(dimensions: str | None) -> dict[str, Any]:
    return json.loads(dimensions) if dimensions else {}
