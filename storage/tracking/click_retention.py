"""Months of clicks, and deletion of those that no customer came with; daily totals stay, and say how far it has come.

On PostgreSQL each month is a partition, made ahead of time and dropped whole. `clicks_before` has the clicks from
before there were months, `clicks_kept` those of dropped months that customers came with, and `clicks_other` (the
default partition) any whose month has no partition yet. Elsewhere, and in the rest of a month, rows are deleted.
"""

import re
from datetime import UTC, datetime, time, timedelta
from itertools import pairwise
from operator import attrgetter
from typing import NamedTuple

from sqlalchemy import Connection, and_, case, column, delete, exists, insert, select, table, text

from storage.engine import database
from storage.rules import keys
from storage.rules.periods.period import Month
from storage.tables import click_retention, clicks, customers, programs
from storage.tables.columns import from_millis

ROWS_AT_ONCE = 5_000
MONTHS_AHEAD = 3
KEPT, OTHER = "clicks_kept", "clicks_other"
_LOCK = "SET LOCAL lock_timeout = '2s'"  # tracking calls wait behind this lock, so give up soon
_PARTITIONS = text("""
    SELECT relname AS name, pg_get_expr(relpartbound, pg_class.oid) AS bound
    FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid WHERE inhparent = 'clicks'::regclass
""")
_BOUND = re.compile(r"FROM \((?:MINVALUE|'(\w*)')\) TO \('(\w*)'\)")
_NAMES = [each.name for each in clicks.c]
_COLUMNS = ", ".join(f'"{name}"' for name in _NAMES)


class Partition(NamedTuple):
    """A part of the clicks: those with ids from `first` on and before `end`."""

    name: str
    first: str
    end: str

    @property
    def label(self) -> str:
        """The month that it holds."""
        last = str(Month.of(from_millis(keys.click_millis(self.end))).plus(-1))
        return last if self.first else f"until {last}"


def list_partitions(connection: Connection) -> list[Partition]:
    """Return the partitions by time, without the default one; none on SQLite."""
    if not database.is_server(connection):
        return []
    rows = [(name, _BOUND.search(bound)) for name, bound in connection.execute(_PARTITIONS)]
    return sorted((Partition(name, it[1] or "", it[2]) for name, it in rows if it), key=attrgetter("end"))


def make_ahead(connection: Connection, *, at: datetime) -> list[str]:
    """Make the partitions of this month and the next ones that are missing, and return their names.

    Clicks that came before their month was made move into it.
    """
    if not database.is_server(connection):
        return []
    there = list_partitions(connection)
    starts = [Month.of(at).plus(n).starts_at for n in range(MONTHS_AHEAD + 2)]
    spans = pairwise(map(keys.first_click_id, starts))
    wanted = [Partition(f"clicks_{start:%Y%m}", *span) for start, span in zip(starts, spans, strict=False)]
    missing = [each for each in wanted if not any(it.first <= each.first and each.end <= it.end for it in there)]
    for each in missing:
        _make(connection, each)
    return [each.name for each in missing]


def drop_months(connection: Connection, *, before: datetime) -> list[str]:
    """Drop the months of clicks that end before `before`, which every program is past, and say which they were.

    Clicks that customers came with stay. Other transactions wait for the few milliseconds of the change. It fails if a
    long read does not end in time.
    """
    first = Month.of(before).starts_at
    end = keys.first_click_id(first)
    expired = [each for each in list_partitions(connection) if each.end <= end]
    dropped = [each.label for each in expired if each.name != KEPT]
    if dropped:
        _keep_customers_clicks(connection, end)
        connection.execute(text(_LOCK))
        connection.execute(text("LOCK TABLE clicks IN ACCESS EXCLUSIVE MODE"))
        for each in expired:
            connection.execute(text(f"ALTER TABLE clicks DETACH PARTITION {each.name}"))
            connection.execute(text(f"DROP TABLE {each.name}"))
        connection.execute(text(f"ALTER TABLE clicks_new RENAME TO {KEPT}"))
        connection.execute(text(f"ALTER TABLE clicks ATTACH PARTITION {KEPT} FOR VALUES FROM (MINVALUE) TO ('{end}')"))
        connection.execute(text(f"ALTER TABLE {KEPT} DROP CONSTRAINT old"))
        for program_id in connection.execute(select(programs.c.id)).scalars().all():
            _note(connection, program_id, first)
    return dropped


def ends(connection: Connection, *, days: int, at: datetime, is_exact: bool = False) -> dict[int, datetime]:
    """Return the start of the first day whose clicks each program keeps.

    A program keeps clicks that can still become customers: those of its cookie and attribution windows. Where clicks
    have partitions it keeps whole months, unless `is_exact`.
    """
    row = programs.c
    chosen = connection.execute(select(row.id, row.cookie_window_days, row.attribution_window_days))
    whole_months = database.is_server(connection) and not is_exact
    kept = {program_id: at - timedelta(days=max(days, *windows)) for program_id, *windows in chosen}
    return {
        program_id: Month.of(since).starts_at if whole_months else datetime.combine(since.date(), time(), UTC)
        for program_id, since in kept.items()
    }


def delete_some(connection: Connection, program_id: int, *, before: datetime, after: str) -> tuple[int, str] | None:
    """Delete a chunk of clicks from `before`, starting behind the click `after`; None: there are no more.

    Returns how many clicks were deleted, and the last one that was looked at.
    """
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
        _note(connection, program_id, before)
    return deleted, ids[-1]


def _make(connection: Connection, month: Partition) -> None:
    """Make a partition beside the table and attach it: this locks the default partition, and not the others."""
    span = f"click_id >= '{month.first}' AND click_id < '{month.end}'"
    moved = f"WITH moved AS (DELETE FROM {OTHER} WHERE {span} RETURNING {_COLUMNS})"  # noqa: S608 - our own names
    for statement in (
        f"CREATE TABLE {month.name} (LIKE clicks INCLUDING DEFAULTS)",
        _LOCK,
        f"LOCK TABLE {OTHER} IN ACCESS EXCLUSIVE MODE",
        f"{moved} INSERT INTO {month.name} ({_COLUMNS}) SELECT {_COLUMNS} FROM moved",  # noqa: S608
        f"ALTER TABLE clicks ATTACH PARTITION {month.name} FOR VALUES FROM ('{month.first}') TO ('{month.end}')",
    ):
        connection.execute(text(statement))


def _keep_customers_clicks(connection: Connection, end: str) -> None:
    """Copy the clicks before `end` that customers came with to a table of their own; its check spares a scan later."""
    connection.execute(text("CREATE TABLE clicks_new (LIKE clicks INCLUDING DEFAULTS INCLUDING INDEXES)"))
    connection.execute(text(f"ALTER TABLE clicks_new ADD CONSTRAINT old CHECK (click_id < '{end}')"))
    came_with = and_(customers.c.program_id == clicks.c.program_id, customers.c.click_id == clicks.c.click_id)
    kept = select(clicks).join(customers, came_with).where(customers.c.click_id < end, clicks.c.click_id < end)
    new = table("clicks_new", *map(column, _NAMES))
    connection.execute(insert(new).from_select(_NAMES, kept))


def _note(connection: Connection, program_id: int, before: datetime) -> None:
    """Store how far clicks are deleted, in the transaction that deletes them."""
    insert = database.insert_for(connection)(click_retention).values(program_id=program_id, deleted_before=before)
    stored, new = click_retention.c.deleted_before, insert.excluded.deleted_before
    later = {"deleted_before": case((new > stored, new), else_=stored)}
    connection.execute(insert.on_conflict_do_update(index_elements=[click_retention.c.program_id], set_=later))
