"""Tracking calls as the writer receives them: it resolves their callers and repeats, and logs those that it rejects."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime, timedelta
from functools import cache, wraps
from typing import Any, NamedTuple

from sqlalchemy import Connection, delete, tuple_

from storage.access.program_keys import ProgramKey
from storage.engine import feed, ids
from storage.engine.feed import Note
from storage.engine.group_commit import set_based
from storage.engine.recurring import RESPONSE_DAYS
from storage.engine.statements import Statement
from storage.rules import click_details, errors
from storage.rules.errors import ServiceError
from storage.tables import idempotent_calls
from storage.tables.columns import from_millis, to_millis
from storage.tracking import kept_calls, program_terms
from storage.tracking.program_terms import KeyHolder, ProgramTerms

MOST_APART = timedelta(days=36_500)  # a reported time beyond it is an error of the sender's
SENT = ("customer_key", "click_id", "transaction_id", "amount_cents", "currency", "coupon_code", "occurred_at")
NO_HOLDER = KeyHolder(0, None, None)
_log = Statement("rejected_call_insert")
_find_first = Statement("idempotent_call_lookup")
_insert_first = Statement("idempotent_call_insert")
_Key = tuple[int, str]  # a program, and an Idempotency-Key within it
_Firsts = dict[_Key, tuple[str, Any]]  # the hash of the first call with a key, and its response


class PresentedKey(NamedTuple):
    """A program key that a call presented, by its hash, and who calls with it."""

    key_hash: str
    program_id: int | None = None  # in its text, which is not verified
    user_agent: str | None = None
    network_hash: str | None = None

    @property
    def caller(self) -> str | None:
        """How rows name the program and the network that called; None if nothing is known."""
        return click_details.caller_name(self.user_agent, self.network_hash)


class Public(NamedTuple):
    program_id: int | None
    if_unknown: type[ServiceError] = errors.ProgramNotFound  # raised where there is no such program


Principal = PresentedKey | Public


class Outcome(NamedTuple):
    result: Any  # or an error
    key: ProgramKey | None  # that it presented, in any state; None: no key


class Repeatable(NamedTuple):
    idempotency_key: str
    request_hash: str  # of the call's content
    respond: Callable[[Any], str]  # makes the response of its result


class Replayed(NamedTuple):
    """The first response to this call."""

    body: str


class Call(NamedTuple):
    """One call of a batch: its caller, the item of its operation, and what the log says of it."""

    principal: Principal
    item: Any
    name: str  # sale, lead ...
    request_id: str
    at: datetime
    sent: Callable[[], Mapping[str, Any]] = dict  # the fields of SENT that it has; runs only if it is rejected
    repeatable: Repeatable | None = None
    seal: Callable[[str], str] | None = None  # encrypts what a replay needs; None: nothing is kept


@cache
def staged(operation: Callable[..., Any]) -> Callable[[Connection, Sequence[Call]], list[Outcome]]:
    """Return an operation over a batch of calls: each is resolved, then `operation` runs over (program, item) pairs."""

    @set_based
    @wraps(operation)
    def run(connection: Connection, calls: Sequence[Call]) -> list[Outcome]:
        resolved = [*_resolve(connection, calls)]
        results: list[Any] = [error for _, error in resolved]
        keyed = {
            n: ((holder.program.id, call.repeatable.idempotency_key), call.repeatable)
            for n, (call, (holder, error)) in enumerate(zip(calls, resolved, strict=True))
            if call.repeatable is not None and holder.program is not None and error is None
        }
        firsts = _first_responses(connection, calls, {key for key, _ in keyed.values()})
        first_places = {key: n for n, (key, _) in reversed(keyed.items()) if key not in firsts}
        repeats = keyed.keys() - set(first_places.values())
        new = [n for n, error in enumerate(results) if error is None and n not in repeats]
        performed = operation(connection, [(resolved[n][0].program, calls[n].item) for n in new]) if new else []
        for n, result in zip(new, performed, strict=True):
            results[n] = result
        if keyed:
            _replay(connection, calls, keyed, firsts, results)
        rejected = [
            (holder, call, result)
            for call, (holder, _), result in zip(calls, resolved, results, strict=True)
            if isinstance(result, ServiceError) and isinstance(call.principal, PresentedKey) and holder.program_id
        ]
        log(connection, rejected)
        return [Outcome(result, holder.key) for result, (holder, _) in zip(results, resolved, strict=True)]

    return run


def _replay(
    connection: Connection,
    calls: Sequence[Call],
    keyed: Mapping[int, tuple[_Key, Repeatable]],
    firsts: _Firsts,
    results: list[Any],
) -> None:
    """Store the responses to the calls that were performed; repeats, without a result, get the first of their key."""
    # Of two concurrent calls the primary key stores one, whose response the other gets when it runs again. So may a
    # rejected one: another process may have performed it in the meantime.
    new = {n for n in keyed if results[n] is not None}
    rejected = {n for n in new if isinstance(results[n], ServiceError)}
    firsts |= _first_responses(connection, calls, {keyed[n][0] for n in rejected})
    rows = []
    for n in new:
        (key, repeatable), first = keyed[n], results[n]
        if n not in rejected:
            first = Replayed(repeatable.respond(first))
            rows.append((*key, repeatable.request_hash, first.body, to_millis(calls[n].at)))
        firsts.setdefault(key, (repeatable.request_hash, first))
    if rows:
        _insert_first(connection, sorted(rows))
    for n in keyed.keys() - (new - rejected):
        key, repeatable = keyed[n]
        request_hash, first = firsts[key]
        results[n] = first if request_hash == repeatable.request_hash else errors.IdempotencyKeyReused()


def _first_responses(connection: Connection, calls: Sequence[Call], keys: AbstractSet[_Key]) -> _Firsts:
    """Return the hashes and the responses of first calls of the last 30 days; older ones are deleted."""
    firsts: _Firsts = {}
    expired = []
    for row in _find_first(connection, sorted(keys)) if keys else ():
        key = (row.program_id, row.idempotency_key)
        if from_millis(row.at) > max(call.at for call in calls) - timedelta(days=RESPONSE_DAYS):
            firsts[key] = (row.request_hash, Replayed(row.body))
        else:
            expired.append(key)
    if expired:
        named = tuple_(idempotent_calls.c.program_id, idempotent_calls.c.idempotency_key)
        connection.execute(delete(idempotent_calls).where(named.in_(expired)))
    return firsts


@set_based
def reject(_: Connection, batch: Sequence[tuple[ProgramTerms, ServiceError]]) -> list[ServiceError]:
    """Reject calls with an error found before storage; the writer logs them and reports a wrong key first."""
    return [error for _, error in batch]


def log(connection: Connection, rejected: Sequence[tuple[KeyHolder, Call, ServiceError]]) -> None:
    """Log rejected calls, each with its key's holder and the error, and keep what a replay needs."""
    if rejected:
        new_ids = ids.after(max(call.at for _, call, _ in rejected), len(rejected))
        numbered = [(*each, event_id) for each, event_id in zip(rejected, new_ids, strict=True)]
        _log(connection, [_row(*each) for each in numbered])
        lost = (Note(key.program_id, f"{call.name}.reject", call.at, n, error.code) for key, call, error, n in numbered)
        feed.note(connection, lost)
        if kept := [row for each in numbered if (row := kept_calls.row_of(*each))]:
            kept_calls.keep(connection, kept)


def _resolve(connection: Connection, calls: Sequence[Call]) -> Iterator[tuple[KeyHolder, ServiceError | None]]:
    """Yield the program and the key of each call, and why the call is rejected."""
    principals = [call.principal for call in calls]
    hashes = {each.key_hash for each in principals if isinstance(each, PresentedKey)}
    named = {each.program_id for each in principals if isinstance(each, Public) and each.program_id is not None}
    holders = program_terms.of_keys(connection, hashes) if hashes else {}
    programs = program_terms.load(connection, named) if named else {}
    for call, principal in zip(calls, principals, strict=True):
        error: ServiceError | None = None
        if isinstance(principal, Public):
            holder = NO_HOLDER._replace(program=programs.get(principal.program_id or 0))
            error = None if holder.program else principal.if_unknown()
        else:
            holder = holders.get(principal.key_hash) or NO_HOLDER
            if holder.key is None:
                error = errors.InvalidKey()
            elif holder.key.has_expired(call.at):
                error = errors.ApiKeyRotationRequired()
        yield holder, error


def _row(holder: KeyHolder, call: Call, error: ServiceError, event_id: int) -> tuple[Any, ...]:
    *sent, occurred_at = map(call.sent().get, SENT)
    fields = ", ".join(field.field for field in error.fields) or None
    what = (holder.program_id, event_id, call.name, error.code, error.text, fields)
    occurred_at = occurred_at if occurred_at and abs(call.at - occurred_at) < MOST_APART else None
    caller = call.principal.caller if isinstance(call.principal, PresentedKey) else None
    who = (error.details.get("same_payload"), call.request_id, caller)
    return (*what, *sent, *who, occurred_at and to_millis(occurred_at), to_millis(call.at))
