"""Background tasks that one process at a time runs, and the expired rows that they delete chunk by chunk."""

import logging
from datetime import UTC, datetime, timedelta

from sqlalchemy import Connection, Table, delete, or_, select, tuple_, update

from storage.engine import citus
from storage.engine.database import insert_for
from storage.engine.statements import of_named_values
from storage.tables import recurring_tasks

MOST_AHEAD = timedelta(minutes=5)  # of another process's clock
ROWS_AT_ONCE = 5_000  # one statement over a large backlog would reach the time limit, hour after hour
RESPONSE_DAYS = 30  # of responses to repeated requests; also of rejected calls and keyless tests
MOST_KEPT = 10_000  # rejected calls of a program that can be replayed: the oldest make room
CHANGE_DAYS = 400  # of the feed of changes
_AGES = {"day_ago": 1, "week_ago": 7, "month_ago": RESPONSE_DAYS, "callers_since": 90, "year_ago": 365}
DAYS = _AGES | {"changes_since": CHANGE_DAYS}
EXPIRED = citus.parts_of("expired")  # which rows of a table may go, in the order in which the tables' rows go
NEVER = datetime.fromtimestamp(0, UTC)
log = logging.getLogger(__name__)


def claim(connection: Connection, name: str, *, every: timedelta, at: datetime) -> datetime | None:
    """Return when the task last began, or NEVER, if it is due and this process's to run now, else None."""
    row = recurring_tasks.c
    previous_at = connection.execute(select(row.started_at).where(row.name == name)).scalar()
    if previous_at is not None and at - every < previous_at <= at + MOST_AHEAD:
        return None
    if previous_at is not None and previous_at > at:
        log.warning("a clock was ahead: %s began at %s, which is in the future", name, previous_at.isoformat())
        previous_at = None
    mine = insert_for(connection)(recurring_tasks).values(name=name, started_at=at)
    still_due = mine.on_conflict_do_update(
        index_elements=[row.name],
        set_={"started_at": at},
        where=or_(row.started_at <= at - every, row.started_at > at + MOST_AHEAD),
    )
    is_mine = connection.execute(still_due.returning(row.name)).scalar() is not None
    return (previous_at or NEVER) if is_mine else None


def renew(connection: Connection, name: str, *, at: datetime) -> None:
    """Let a task that still runs count as begun at `at`, so that no other process begins it."""
    row = recurring_tasks.c
    connection.execute(update(recurring_tasks).where(row.name == name, row.started_at < at).values(started_at=at))


def prune(connection: Connection, table: Table, *, at: datetime) -> int:
    """Delete at most ROWS_AT_ONCE of a table's expired rows; return how many. Fewer: none is left."""
    keys = table.primary_key.columns
    some = select(*keys).where(of_named_values(EXPIRED[table.name])).limit(ROWS_AT_ONCE)
    ages = {name: at - timedelta(days=days) for name, days in DAYS.items()}
    values = ages | {"at": at, "first_day": ages["callers_since"].date(), "most": MOST_KEPT}
    return connection.execute(delete(table).where(tuple_(*keys).in_(some)), values).rowcount
