"""Background tasks that one process at a time runs, and the expired rows that they delete chunk by chunk."""

import logging
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Table, delete, exists, func, or_, select, tuple_, update

from storage import tables
from storage.engine.database import insert_for
from storage.tables import recurring_tasks

MOST_AHEAD = timedelta(minutes=5)  # of another process's clock
ROWS_AT_ONCE = 5_000  # one statement over a large backlog would reach the time limit, hour after hour
RESPONSE_DAYS = REJECTION_DAYS = TEST_DAYS = 30  # of responses to repeated requests, rejected calls, keyless tests
MOST_KEPT = 10_000  # rejected calls of a program that can be replayed: the oldest make room
log = logging.getLogger(__name__)
CHANGE_DAYS = 400  # of the feed of changes
CALLER_DAYS = 90  # after the last call of who uses a key
NEVER = datetime.fromtimestamp(0, UTC)


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
    some = select(*keys).where(expired(at)[table]).limit(ROWS_AT_ONCE)
    return connection.execute(delete(table).where(tuple_(*keys).in_(some))).rowcount


def expired(at: datetime) -> dict[Table, Any]:
    """Return the condition of the rows that may go, of each table that has such, in the order in which they go."""
    client, test, log = tables.assistant_clients.c, tables.test_events.c, tables.tracking_log.c
    never_used = client.used_at.is_(None) & (client.kept_at <= at - timedelta(days=7))
    unused = never_used | (client.used_at <= at - timedelta(days=365))
    keyless = test.with_key.is_(False) & (test.at < at - timedelta(days=TEST_DAYS))
    expiring = (tables.sessions, tables.portal_tokens, tables.invitations, tables.device_logins, tables.used_handovers)
    responses = (tables.idempotent_answers, tables.idempotent_calls)
    tokens = tables.assistant_tokens.c
    return {
        **{each: each.c.expires_at <= at for each in (*expiring, tables.assistant_tokens)},
        tables.assistants: ~exists().where(tokens.assistant_id == tables.assistants.c.id),  # of which no token is left
        tables.assistant_clients: unused & ~exists().where(tables.assistants.c.client_id == client.client_id),
        **{each: each.c.at <= at - timedelta(days=RESPONSE_DAYS) for each in responses},
        **{each: each.c.at < at - timedelta(days=1) for each in (tables.committed_batches, tables.program_batches)},
        tables.refused_calls: tables.refused_calls.c.at < at - timedelta(days=REJECTION_DAYS),
        tables.changes: tables.changes.c.at < at - timedelta(days=CHANGE_DAYS),
        tables.kept_calls: _beyond_kept(at),
        tables.key_callers: tables.key_callers.c.last_at < at - timedelta(days=CALLER_DAYS),
        tables.key_caller_weeks: tables.key_caller_weeks.c.week < (at - timedelta(days=CALLER_DAYS)).date(),
        tables.tracking_log: exists().where(test.program_id == log.program_id, test.id == log.event_id, keyless),
        tables.test_events: keyless,
    }


def _beyond_kept(at: datetime) -> Any:
    row = tables.kept_calls.c
    place = func.row_number().over(partition_by=row.program_id, order_by=row.id.desc()).label("place")
    numbered = select(row.program_id, row.id, place).subquery()
    beyond = select(numbered.c.program_id, numbered.c.id).where(numbered.c.place > MOST_KEPT)
    return or_(row.at < at - timedelta(days=REJECTION_DAYS), tuple_(row.program_id, row.id).in_(beyond))
