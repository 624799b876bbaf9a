"""The stage between the queue and a tracking operation, which resolves callers and logs rejected calls.

One statement resolves a batch's keys and one its other programs, whatever its size. Operations
receive programs and never see a credential.
"""

from collections.abc import Callable, Sequence
from functools import cache, wraps
from typing import Any, NamedTuple

from sqlalchemy import Connection

from storage.access.program_keys import ProgramKey
from storage.engine.group_commit import set_based
from storage.rules import click_details
from storage.rules.errors import ApiKeyRotationRequired, InvalidKey, ProgramNotFound, ServiceError
from storage.tracking import program_terms, rejection_log
from storage.tracking.program_terms import KeyHolder, ProgramTerms
from storage.tracking.rejection_log import CallDetails, Rejection
from storage.tracking.repeated_calls import KeyedCall, KeyedCalls, Repeatable


class PresentedKey(NamedTuple):
    """A program key that a call presented, by its hash; `program_id` is the one in its text, which is not verified.

    `user_agent` and `network_hash` say who calls with it.
    """

    key_hash: str
    program_id: int | None = None
    user_agent: str | None = None
    network_hash: str | None = None

    @property
    def caller(self) -> str | None:
        """How rows name the program and the network that called; None if nothing is known."""
        return click_details.caller_name(self.user_agent, self.network_hash)


class Public(NamedTuple):
    """A call without a key, about a program; `if_unknown` is raised where there is no such program."""

    program_id: int | None
    if_unknown: type[ServiceError] = ProgramNotFound


Principal = PresentedKey | Public


class Outcome(NamedTuple):
    """The outcome of a call: a result or an error, and the key that it presented, in any state (None: no key)."""

    result: Any
    key: ProgramKey | None


class Call(NamedTuple):
    """One call of a batch: its caller, its item, and its description for the rejection log."""

    principal: Principal
    item: Any
    details: CallDetails
    repeatable: Repeatable | None = None


class _Caller(NamedTuple):
    program_id: int | None
    program: ProgramTerms | None
    key: ProgramKey | None
    error: ServiceError | None = None


@cache
def staged(operation: Callable[..., Any]) -> Callable[[Connection, Sequence[Call]], list[Outcome]]:
    """Return an operation over a batch of calls: each is resolved, then the set-based `operation` runs over the others.

    It gets (program, item) pairs. A call with an Idempotency-Key that was made before gets its first response.
    """

    @set_based
    @wraps(operation)
    def run(connection: Connection, calls: Sequence[Call]) -> list[Outcome]:
        callers = _resolve(connection, calls)
        results: list[Any] = [caller.error for caller in callers]
        keyed = {
            n: KeyedCall(caller.program.id, call.repeatable, call.details.at)
            for n, (call, caller) in enumerate(zip(calls, callers, strict=True))
            if call.repeatable is not None and caller.program is not None and caller.error is None
        }
        repeated = KeyedCalls(connection, keyed)
        new = [n for n, error in enumerate(results) if error is None and not repeated.is_repeat(n)]
        performed = operation(connection, [(callers[n].program, calls[n].item) for n in new]) if new else []
        for n, result in zip(new, performed, strict=True):
            results[n] = result
        repeated.finish(results)
        rejected = [
            Rejection(caller.program_id, call.details, result, call.principal.caller)
            for call, caller, result in zip(calls, callers, results, strict=True)
            if isinstance(result, ServiceError) and isinstance(call.principal, PresentedKey) and caller.program_id
        ]
        rejection_log.append(connection, rejected)
        return [Outcome(result, caller.key) for result, caller in zip(results, callers, strict=True)]

    return run


@set_based
def reject(_: Connection, batch: Sequence[tuple[ProgramTerms, ServiceError]]) -> list[ServiceError]:
    """Reject calls with an error found before storage; the stage logs them and reports a wrong key first."""
    return [error for _, error in batch]


def _resolve(connection: Connection, calls: Sequence[Call]) -> list[_Caller]:
    hashes = {call.principal.key_hash for call in calls if isinstance(call.principal, PresentedKey)}
    public = [call.principal.program_id for call in calls if isinstance(call.principal, Public)]
    named = {program_id for program_id in public if program_id is not None}
    holders = program_terms.of_keys(connection, hashes) if hashes else {}
    programs = program_terms.load(connection, named) if named else {}
    return [_caller(call, holders, programs) for call in calls]


def _caller(call: Call, holders: dict[str, KeyHolder], programs: dict[int, ProgramTerms]) -> _Caller:
    if isinstance(call.principal, Public):
        program = programs.get(call.principal.program_id or 0)
        return _Caller(None, program, None, None if program else call.principal.if_unknown())
    holder = holders.get(call.principal.key_hash)
    if holder is None or holder.key is None:
        return _Caller(holder and holder.program_id, None, None, InvalidKey())
    error = ApiKeyRotationRequired() if holder.key.has_expired(call.details.at) else None
    return _Caller(holder.program_id, holder.program, holder.key, error)
