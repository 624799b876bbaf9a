"""Background tasks that one process at a time runs, and the expired rows that they delete chunk by chunk."""

import logging
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import Connection, Table, delete, exists, or_, select, tuple_, update

from storage.engine.database import insert_for
from storage.tables import (
    assistant_clients,
    assistant_tokens,
    assistants,
    committed_batches,
    device_logins,
    idempotent_answers,
    idempotent_calls,
    invitations,
    key_caller_weeks,
    key_callers,
    program_batches,
    recurring_tasks,
    refused_calls,
    sessions,
    test_events,
    tracking_log,
    used_handovers,
)

MOST_AHEAD = timedelta(minutes=5)  # of another process's clock
ROWS_AT_ONCE = 5_000  # one statement over a large backlog would reach the time limit, hour after hour
RESPONSE_DAYS = REJECTION_DAYS = TEST_DAYS = 30  # of responses to repeated requests, rejected calls, keyless tests
log = logging.getLogger(__name__)
CALLER_DAYS = 90  # after the last call of who uses a key
EXPIRE_AT = (sessions, invitations, device_logins, used_handovers, assistant_tokens)  # each row says when
EXPIRING = (  # in the order in which they are deleted
    *(*EXPIRE_AT, assistants, assistant_clients, idempotent_answers, idempotent_calls),
    *(committed_batches, program_batches, refused_calls, key_callers, key_caller_weeks),
    *(tracking_log, test_events),
)


class TaskTurn(NamedTuple):
    """The task is this process's to run now; it last began at `previous_at` (None: never)."""

    previous_at: datetime | None


def claim(connection: Connection, name: str, *, every: timedelta, at: datetime) -> TaskTurn | None:
    """Return the turn if the task is due, and None if it began less than `every` ago, in whatever process.

    It is also due if it began in the future: a clock was ahead.
    """
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
    return TaskTurn(previous_at) if is_mine else None


def renew(connection: Connection, name: str, *, at: datetime) -> None:
    """Let a task that still runs count as begun at `at`, so that no other process begins it."""
    row = recurring_tasks.c
    connection.execute(update(recurring_tasks).where(row.name == name, row.started_at < at).values(started_at=at))


def prune(connection: Connection, table: Table, *, at: datetime) -> int:
    """Delete at most ROWS_AT_ONCE of a table's expired rows; return how many. Fewer: none is left."""
    keys = table.primary_key.columns
    some = select(*keys).where(_expired(table, at)).limit(ROWS_AT_ONCE)
    return connection.execute(delete(table).where(tuple_(*keys).in_(some))).rowcount


def _expired(table: Table, at: datetime) -> Any:
    """Return the condition of the rows that may go: for an assistant without a token, for a log with its test event."""
    client, test, log = assistant_clients.c, test_events.c, tracking_log.c
    never_used = client.used_at.is_(None) & (client.kept_at <= at - timedelta(days=7))
    unused = never_used | (client.used_at <= at - timedelta(days=365))
    keyless = test.with_key.is_(False) & (test.at < at - timedelta(days=TEST_DAYS))
    conditions: dict[Table, Any] = {
        assistants: ~exists().where(assistant_tokens.c.assistant_id == assistants.c.id),
        assistant_clients: unused & ~exists().where(assistants.c.client_id == client.client_id),
        refused_calls: refused_calls.c.at < at - timedelta(days=REJECTION_DAYS),
        key_callers: key_callers.c.last_at < at - timedelta(days=CALLER_DAYS),
        key_caller_weeks: key_caller_weeks.c.week < (at - timedelta(days=CALLER_DAYS)).date(),
        tracking_log: exists().where(test.program_id == log.program_id, test.id == log.event_id, keyless),
        test_events: keyless,
        **{each: each.c.at <= at - timedelta(days=RESPONSE_DAYS) for each in (idempotent_answers, idempotent_calls)},
        **{each: each.c.at < at - timedelta(days=1) for each in (committed_batches, program_batches)},
        **{each: each.c.expires_at <= at for each in EXPIRE_AT},
    }
    return conditions[table]
