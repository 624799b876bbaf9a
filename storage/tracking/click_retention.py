"""Months of clicks (decision 0044), and deletion of clicks that no customer came with; their daily totals stay."""

import re
from datetime import UTC, datetime, time, timedelta
from itertools import pairwise
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import Connection, delete, exists, select, text

from storage.engine import citus, database
from storage.engine.statements import named_statement
from storage.rules import keys
from storage.rules.periods.period import Month
from storage.tables import clicks, customers, programs
from storage.tables.columns import from_millis

ROWS_AT_ONCE = 5_000
MONTHS_AHEAD = 3
KEPT = "clicks_kept"
_NOTE = named_statement("clicks_deleted")  # in the transaction that deletes them
_BOUND = re.compile(r"FROM \((?:MINVALUE|'(\w*)')\) TO \('(\w*)'\)")
_COLUMNS = ", ".join(f'"{each.name}"' for each in clicks.c)
_MAKE, _DROP = (
    Path(__file__).with_name(f"{name}.sql").read_text(encoding="utf-8")
    for name in ("click_month_make", "click_months_drop")
)


class Partition(NamedTuple):
    name: str
    first: str  # the first id of a click in it
    end: str  # the first one after it

    @property
    def label(self) -> str:
        last = str(Month.of(from_millis(keys.click_millis(self.end))).plus(-1))
        return last if self.first else f"until {last}"


def list_partitions(connection: Connection) -> list[Partition]:
    """Return the partitions by time, without the default one; none on SQLite."""
    if not database.is_server(connection):
        return []
    rows = [(name, _BOUND.search(bound)) for name, bound in connection.execute(text(citus.SQL["click_months"]))]
    return sorted((Partition(name, it[1] or "", it[2]) for name, it in rows if it), key=attrgetter("end"))


def make_ahead(connection: Connection, *, at: datetime) -> list[str]:
    """Make the missing partitions of this month and the next ones, with the clicks so far; return their names."""
    if not database.is_server(connection):
        return []
    there = list_partitions(connection)
    starts = [Month.of(at).plus(n).starts_at for n in range(MONTHS_AHEAD + 2)]
    spans = pairwise(map(keys.first_click_id, starts))
    wanted = [Partition(f"clicks_{start:%Y%m}", *span) for start, span in zip(starts, spans, strict=False)]
    missing = [each for each in wanted if not any(it.first <= each.first and each.end <= it.end for it in there)]
    for each in missing:
        _run(connection, _MAKE, name=each.name, first=each.first, end=each.end)
    return [each.name for each in missing]


def drop_months(connection: Connection, *, before: datetime) -> list[str]:
    """Drop the months of clicks that end before a time, which every program is past; return which they were."""
    first = Month.of(before).starts_at
    end = keys.first_click_id(first)
    expired = [each for each in list_partitions(connection) if each.end <= end]
    dropped = [each.label for each in expired if each.name != KEPT]
    if dropped:
        detach = (f"ALTER TABLE clicks DETACH PARTITION {each.name};\nDROP TABLE {each.name};\n" for each in expired)
        _run(connection, _DROP, end=end, detach="".join(detach))
        for program_id in connection.execute(select(programs.c.id)).scalars().all():
            connection.execute(_NOTE, {"program_id": program_id, "until": first})
    return dropped


def ends(connection: Connection, *, days: int, at: datetime, is_exact: bool = False) -> dict[int, datetime]:
    """Return the start of the first day whose clicks each program keeps; where there are months, of the month."""
    row = programs.c
    chosen = connection.execute(select(row.id, row.cookie_window_days, row.attribution_window_days))
    whole_months = database.is_server(connection) and not is_exact
    # Clicks within a window can still become customers.
    kept = {program_id: at - timedelta(days=max(days, *windows)) for program_id, *windows in chosen}
    return {
        program_id: Month.of(since).starts_at if whole_months else datetime.combine(since.date(), time(), UTC)
        for program_id, since in kept.items()
    }


def delete_some(connection: Connection, program_id: int, *, before: datetime, after: str) -> tuple[int, str] | None:
    """Delete some clicks from before a time, after the click `after`; return how many, and the last one looked at."""
    row = clicks.c
    mine = (row.program_id == program_id, row.click_id > after, row.click_id < keys.first_click_id(before))
    oldest = select(row.click_id).where(*mine).order_by(row.click_id).limit(ROWS_AT_ONCE)
    ids = connection.execute(oldest).scalars().all()
    if not ids:
        return None
    brought_customer = exists().where(customers.c.program_id == row.program_id, customers.c.click_id == row.click_id)
    chunk = delete(clicks).where(row.program_id == program_id, row.click_id.between(ids[0], ids[-1]), ~brought_customer)
    deleted = connection.execute(chunk).rowcount
    if deleted:
        connection.execute(_NOTE, {"program_id": program_id, "until": before})
    return deleted, ids[-1]


def _run(connection: Connection, script: str, **values: str) -> None:
    """Run the statements of a script, one after the other, with names and bounds of our own in them."""
    for statement in script.format(columns=_COLUMNS, **values).split(";\n"):
        connection.execute(text(statement))
