"""Idempotency-Keys of tracking calls: the first response is stored in the call's own transaction and replayed."""

from collections.abc import Callable, Collection, Mapping
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


class KeyedCalls:
    """The calls of a batch with an Idempotency-Key, by their places: the first with each key is performed.

    The primary key stores one of two concurrent calls; the other runs again and gets its response.
    """

    def __init__(self, connection: Connection, calls: Mapping[int, KeyedCall]) -> None:
        self._connection, self._calls = connection, calls
        self._firsts = self._stored(calls.values())
        firsts = {call.id: n for n, call in reversed(list(calls.items())) if call.id not in self._firsts}
        self._performed = set(firsts.values())

    def is_repeat(self, n: int) -> bool:
        """Return whether the batch's call `n` is not to be performed."""
        return n in self._calls and n not in self._performed

    def finish(self, results: list[Any]) -> None:
        """Store the responses of the calls that were performed, and set the results of those that repeat another.

        A rejected call stores nothing: another process may have performed it in the meantime.
        """
        rejected = {n for n in self._performed if isinstance(results[n], ServiceError)}
        self._firsts |= self._stored([self._calls[n] for n in rejected])
        done = self._performed - rejected
        for n in self._performed:
            call, result = self._calls[n], results[n]
            first = Replayed(call.repeatable.respond(result)) if n in done else result
            self._firsts.setdefault(call.id, (call.repeatable.request_hash, first))
        if done:
            _insert(self._connection, sorted(self._row(self._calls[n]) for n in done))
        for n, call in self._calls.items():
            request_hash, first = self._firsts[call.id]
            if n not in done:
                results[n] = first if request_hash == call.repeatable.request_hash else IdempotencyKeyReused()

    def _row(self, call: KeyedCall) -> tuple[Any, ...]:
        request_hash, replayed = self._firsts[call.id]
        return (*call.id, request_hash, replayed.body, to_millis(call.at))

    def _stored(self, calls: Collection[KeyedCall]) -> dict[tuple[int, str], tuple[str, Any]]:
        """Return the hashes and the responses of first calls of the last 30 days; older ones are deleted."""
        firsts: dict[tuple[int, str], tuple[str, Any]] = {}
        expired = []
        for row in _find(self._connection, sorted({call.id for call in calls})) if calls else ():
            if from_millis(row.at) > max(call.at for call in calls) - timedelta(days=RESPONSE_DAYS):
                firsts[row.program_id, row.idempotency_key] = (row.request_hash, Replayed(row.body))
            else:
                expired.append((row.program_id, row.idempotency_key))
        if expired:
            named = tuple_(idempotent_calls.c.program_id, idempotent_calls.c.idempotency_key)
            self._connection.execute(delete(idempotent_calls).where(named.in_(expired)))
        return firsts
