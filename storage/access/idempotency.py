"""Idempotency-Keys: the answer to a write, stored in the transaction of the write, and given again for 30 days."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import Connection, delete, insert, select, update

from storage.rules.errors import IdempotencyKeyReused
from storage.tables import idempotent_answers, idempotent_calls

KEPT_DAYS = 30
_PENDING = 0  # the status while the write of this transaction is still at work; no other transaction ever sees it


class Request(NamedTuple):
    """A write that may be repeated: whose it is, its Idempotency-Key, and a hash of what it asks for."""

    agent_key_id: int
    idempotency_key: str
    request_hash: str
    at: datetime


class Given(NamedTuple):
    """The answer to a write: its status and JSON text; `replayed` if it was given before."""

    status: int
    body: str
    replayed: bool = False


def once(connection: Connection, request: Request, perform: Callable[[Connection], Given]) -> Given:
    """Return the first answer to this request; only if there is none yet, `perform` the write.

    Of two at once, one waits for the other: the row is claimed first. A write that is refused leaves no answer.
    Raises IdempotencyKeyReused when the key's first request asked for something else.
    """
    mine = (
        idempotent_answers.c.agent_key_id == request.agent_key_id,
        idempotent_answers.c.idempotency_key == request.idempotency_key,
    )
    first = connection.execute(select(idempotent_answers).where(*mine)).one_or_none()
    if first is not None and first.at > _oldest(request.at):
        return _again(first, request)
    if first is not None:
        connection.execute(delete(idempotent_answers).where(*mine))
    claim = {**request._asdict(), "status": _PENDING, "body": ""}
    connection.execute(insert(idempotent_answers).values(**claim))
    given = perform(connection)
    connection.execute(update(idempotent_answers).where(*mine).values(status=given.status, body=given.body))
    return given


def prune(connection: Connection, *, at: datetime) -> int:
    """Forget answers older than 30 days, of writes and of tracking calls; return how many of writes."""
    connection.execute(delete(idempotent_calls).where(idempotent_calls.c.at <= _oldest(at)))
    return connection.execute(delete(idempotent_answers).where(idempotent_answers.c.at <= _oldest(at))).rowcount


def _again(first: Any, request: Request) -> Given:
    if first.request_hash != request.request_hash:
        raise IdempotencyKeyReused
    return Given(first.status, first.body, replayed=True)


def _oldest(at: datetime) -> datetime:
    return at - timedelta(days=KEPT_DAYS)
