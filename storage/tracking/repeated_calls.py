"""Idempotency-Keys of tracking calls: the first response is stored in the call's own transaction and replayed."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any, NamedTuple

from sqlalchemy import Connection, delete, insert, select

from storage.engine.recurring import RESPONSE_DAYS
from storage.rules.errors import IdempotencyKeyReused, ServiceError
from storage.tables import idempotent_calls
from storage.tracking.program_terms import ProgramTerms
from storage.tracking.rejection_log import CallDetails


class Repeatable(NamedTuple):
    """A call's Idempotency-Key, a hash of its content, and how its result becomes the response."""

    idempotency_key: str
    request_hash: str
    respond: Callable[[Any], str]


class Replayed(NamedTuple):
    """The first response to this call."""

    body: str


def once(
    connection: Connection,
    program: ProgramTerms,
    repeatable: Repeatable,
    details: CallDetails,
    perform: Callable[[], Any],
) -> Any:
    """Return the first response to this call as Replayed; if there is none yet, `perform` it and return its result.

    The primary key stores one of two concurrent calls; the other runs again and gets its response. A rejected call
    stores nothing. Raises IdempotencyKeyReused when the key's first call was different.
    """
    row = idempotent_calls.c
    mine = (row.program_id == program.id, row.idempotency_key == repeatable.idempotency_key)
    first = connection.execute(select(idempotent_calls).where(*mine)).one_or_none()
    if first is not None and first.at > details.at - timedelta(days=RESPONSE_DAYS):
        if first.request_hash != repeatable.request_hash:
            raise IdempotencyKeyReused
        return Replayed(first.body)
    if first is not None:
        connection.execute(delete(idempotent_calls).where(*mine))
    result = perform()
    if isinstance(result, ServiceError):
        raise result
    columns = {"idempotency_key": repeatable.idempotency_key, "request_hash": repeatable.request_hash, "at": details.at}
    body = repeatable.respond(result)
    connection.execute(insert(idempotent_calls).values(program_id=program.id, **columns, body=body))
    return result
