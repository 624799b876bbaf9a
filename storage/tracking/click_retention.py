"""Deletes old clicks that no customer came with. Daily totals stay, and say how far their clicks are deleted.

PostgreSQL drops whole months (storage/tracking/click_months.py). Elsewhere, and in the rest of a month, rows are
deleted.
"""

from datetime import UTC, datetime, time, timedelta
from typing import NamedTuple

from sqlalchemy import Connection, case, delete, exists, select

from storage.engine import database
from storage.rules import keys
from storage.rules.periods.month import Month
from storage.tables import click_retention, clicks, customers, programs
from storage.tracking import click_months

ROWS_AT_ONCE = 5_000


class DeletedChunk(NamedTuple):
    """How many clicks were deleted, and the last one that was looked at."""

    clicks: int
    last: str


def ends(connection: Connection, *, days: int, at: datetime, is_exact: bool = False) -> dict[int, datetime]:
    """Return the start of the first day whose clicks each program keeps.

    A program keeps clicks that can still become customers: those of its cookie and attribution windows. Where clicks
    have partitions it keeps whole months, unless `is_exact`.
    """
    row = programs.c
    chosen = connection.execute(select(row.id, row.cookie_window_days, row.attribution_window_days))
    begin = _midnight if is_exact or not database.is_server(connection) else _month
    return {program_id: begin(at - timedelta(days=max(days, *windows))) for program_id, *windows in chosen}


def drop_months(connection: Connection, *, before: datetime) -> list[str]:
    """Drop the months of clicks that end before `before`, which every program is past, and say which they were."""
    dropped = click_months.drop(connection, before=before)
    if dropped:
        for program_id in connection.execute(select(programs.c.id)).scalars().all():
            _note(connection, program_id, _month(before))
    return dropped


def delete_some(connection: Connection, program_id: int, *, before: datetime, after: str) -> DeletedChunk | None:
    """Delete a chunk of clicks from `before`, starting behind the click `after`; None: there are no more."""
    row = clicks.c
    old = select(row.click_id).where(
        row.program_id == program_id, row.click_id > after, row.click_id < keys.first_click_id(before)
    )
    ids = connection.execute(old.order_by(row.click_id).limit(ROWS_AT_ONCE)).scalars().all()
    if not ids:
        return None
    brought_customer = exists().where(customers.c.program_id == row.program_id, customers.c.click_id == row.click_id)
    chunk = delete(clicks).where(row.program_id == program_id, row.click_id.between(ids[0], ids[-1]), ~brought_customer)
    deleted = connection.execute(chunk).rowcount
    if deleted:
        _note(connection, program_id, before)
    return DeletedChunk(deleted, ids[-1])


def _note(connection: Connection, program_id: int, before: datetime) -> None:
    """Store how far clicks are deleted, in the transaction that deletes them."""
    insert = database.insert_for(connection)(click_retention).values(program_id=program_id, deleted_before=before)
    stored, new = click_retention.c.deleted_before, insert.excluded.deleted_before
    later = {"deleted_before": case((new > stored, new), else_=stored)}
    connection.execute(insert.on_conflict_do_update(index_elements=[click_retention.c.program_id], set_=later))


def _month(at: datetime) -> datetime:
    return Month.of(at).starts_at


def _midnight(at: datetime) -> datetime:
    return datetime.combine(at.date(), time(), UTC)
