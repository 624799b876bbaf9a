"""Idempotency-Keys: a write's response is stored in the write's own transaction and replayed for 30 days."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import NamedTuple

from sqlalchemy import Connection, delete, insert, select, update

from storage.engine.recurring import RESPONSE_DAYS
from storage.rules.errors import IdempotencyKeyReused
from storage.tables import idempotent_answers

_CREATED = 201  # the status of every response


class Request(NamedTuple):
    """A write that may be repeated: its owner, its Idempotency-Key, and a hash of its content."""

    agent_key_id: int
    idempotency_key: str
    request_hash: str
    at: datetime


def once(connection: Connection, request: Request, perform: Callable[[Connection], str]) -> tuple[str, bool]:
    """Return the JSON text of the first response to this request, and whether this is a repeat.

    `perform` makes the write if there is none. The request claims the row first, so concurrent repeats wait for it. A
    rejected write stores no response. Raises IdempotencyKeyReused when the key's first request was different.
    """
    mine = (
        idempotent_answers.c.agent_key_id == request.agent_key_id,
        idempotent_answers.c.idempotency_key == request.idempotency_key,
    )
    first = connection.execute(select(idempotent_answers).where(*mine)).one_or_none()
    if first is not None and first.at > request.at - timedelta(days=RESPONSE_DAYS):
        if first.request_hash != request.request_hash:
            raise IdempotencyKeyReused
        return first.body, True
    if first is not None:
        connection.execute(delete(idempotent_answers).where(*mine))
    connection.execute(insert(idempotent_answers).values(**request._asdict(), status=_CREATED, body=""))
    body = perform(connection)
    connection.execute(update(idempotent_answers).where(*mine).values(body=body))
    return body, False
