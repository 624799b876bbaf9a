"""Background tasks that one process at a time runs, and how they delete expired rows chunk by chunk."""

from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import Connection, Table, delete, select, tuple_, update

from storage.engine.database import insert_for
from storage.tables import recurring_tasks

ROWS_AT_ONCE = 5_000  # one statement over a large backlog would reach the time limit, hour after hour


class TaskTurn(NamedTuple):
    """The task is this process's to run now; it last began at `previous_at` (None: never)."""

    previous_at: datetime | None


def claim(connection: Connection, name: str, *, every: timedelta, at: datetime) -> TaskTurn | None:
    """Return the turn if the task is due, and None if it began less than `every` ago, in whatever process."""
    row = recurring_tasks.c
    previous_at = connection.execute(select(row.started_at).where(row.name == name)).scalar()
    if previous_at is not None and previous_at > at - every:
        return None
    mine = insert_for(connection)(recurring_tasks).values(name=name, started_at=at)
    still_due = mine.on_conflict_do_update(
        index_elements=[row.name], set_={"started_at": at}, where=row.started_at <= at - every
    )
    is_mine = connection.execute(still_due.returning(row.name)).scalar() is not None
    return TaskTurn(previous_at) if is_mine else None


def renew(connection: Connection, name: str, *, at: datetime) -> None:
    """Let a task that still runs count as begun at `at`, so that no other process begins it."""
    row = recurring_tasks.c
    connection.execute(update(recurring_tasks).where(row.name == name, row.started_at < at).values(started_at=at))


def delete_some(connection: Connection, table: Table, *expired: Any) -> int:
    """Delete at most ROWS_AT_ONCE of the rows that meet the conditions; return how many. Fewer: none is left."""
    keys = table.primary_key.columns
    some = select(*keys).where(*expired).limit(ROWS_AT_ONCE)
    return connection.execute(delete(table).where(tuple_(*keys).in_(some))).rowcount
