"""Idempotency-Keys of tracking calls: the first response is stored in the call's own transaction and replayed."""

from collections.abc import Callable, Collection, Mapping
from collections.abc import Set as AbstractSet
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import Connection, delete, tuple_

from storage.engine.recurring import RESPONSE_DAYS
from storage.engine.statements import Statement
from storage.rules.errors import IdempotencyKeyReused, ServiceError
from storage.tables import idempotent_calls
from storage.tables.columns import from_millis, to_millis

_find = Statement("idempotent_call_lookup")
_insert = Statement("idempotent_call_insert")


class Repeatable(NamedTuple):
    """A call's Idempotency-Key, a hash of its content, and how its result becomes the response."""

    idempotency_key: str
    request_hash: str
    respond: Callable[[Any], str]


class Replayed(NamedTuple):
    """The first response to this call."""

    body: str


class KeyedCall(NamedTuple):
    """A call with an Idempotency-Key, by a program."""

    program_id: int
    repeatable: Repeatable
    at: datetime

    @property
    def id(self) -> tuple[int, str]:
        """What calls that repeat each other have in common."""
        return self.program_id, self.repeatable.idempotency_key


def perform_once(
    connection: Connection,
    calls: Mapping[int, KeyedCall],
    results: list[Any],
    perform: Callable[[AbstractSet[int]], None],
) -> None:
    """Have a batch performed without its repeats, which get the result of the first call with their key.

    `calls` are those with a key, by their places in `results`, which `perform` fills except at the places it is given.
    The primary key stores one of two concurrent calls; the other runs again and gets its response. A rejected call
    stores nothing: another process may have performed it in the meantime.
    """
    firsts = _stored(connection, calls.values())
    new = set({call.id: n for n, call in reversed([*calls.items()]) if call.id not in firsts}.values())
    perform(calls.keys() - new)
    rejected = {n for n in new if isinstance(results[n], ServiceError)}
    firsts |= _stored(connection, [calls[n] for n in rejected])
    rows = []
    for n in new:
        (_, repeatable, at), first = calls[n], results[n]
        if n not in rejected:
            first = Replayed(repeatable.respond(first))
            rows.append((*calls[n].id, repeatable.request_hash, first.body, to_millis(at)))
        firsts.setdefault(calls[n].id, (repeatable.request_hash, first))
    if rows:
        _insert(connection, sorted(rows))
    for n in calls.keys() - (new - rejected):
        request_hash, first = firsts[calls[n].id]
        results[n] = first if request_hash == calls[n].repeatable.request_hash else IdempotencyKeyReused()


def _stored(connection: Connection, calls: Collection[KeyedCall]) -> dict[tuple[int, str], tuple[str, Any]]:
    """Return the hashes and the responses of first calls of the last 30 days; older ones are deleted."""
    firsts: dict[tuple[int, str], tuple[str, Any]] = {}
    expired = []
    for row in _find(connection, sorted({call.id for call in calls})) if calls else ():
        if from_millis(row.at) > max(call.at for call in calls) - timedelta(days=RESPONSE_DAYS):
            firsts[row.program_id, row.idempotency_key] = (row.request_hash, Replayed(row.body))
        else:
            expired.append((row.program_id, row.idempotency_key))
    if expired:
        named = tuple_(idempotent_calls.c.program_id, idempotent_calls.c.idempotency_key)
        connection.execute(delete(idempotent_calls).where(named.in_(expired)))
    return firsts
