"""Replays: kept calls are performed as of their own day, at most once, after the cause of their rejection is gone.

Those with a replaced key wait for an owner, who accepts or discards them; nothing is performed of a leaked key's.
"""

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from functools import partial
from itertools import groupby
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, func, or_, select, update

from storage.engine import audit
from storage.engine.audit import By, Change
from storage.engine.sealing import Sealer
from storage.management import agent_caps
from storage.rules.errors import FieldError, ServiceError, ValidationError
from storage.tables import kept_calls, retired_program_keys
from storage.tracking import program_terms, terms_in_force
from storage.tracking.kept_calls import OPERATIONS, REPEATS, KeptState, opened
from storage.tracking.sale_decisions import Sale

MOST_AT_ONCE = 200
ANY = "all"  # causes
UNKNOWN = "unknown"  # a caller of whom nothing is known
_row = kept_calls.c


class ReplayOutcome(StrEnum):
    """What a replay made of a call."""

    PERFORMED = "performed"
    REJECTED = "still_rejected"
    BEFORE = "replayed_before"
    WAITING = "waits_for_owner"
    NOT_KEPT = "not_kept"


class ReplayedCall(NamedTuple):
    """What became of one rejected call; `code` and `message` say why it is still rejected."""

    id: int
    call: str | None
    outcome: ReplayOutcome
    code: str | None = None
    message: str | None = None


class Replay(NamedTuple):
    """What became of the calls, and of how many; `remaining` more calls are still to be tried: send it again."""

    performed: int
    still_rejected: int
    discarded: int
    remaining: int
    calls: list[ReplayedCall]


class OldKeyDecision(StrEnum):
    """What an owner decides on calls with a replaced key: the last one discards them all and keeps no more."""

    ACCEPT = "accept"
    DISCARD = "discard"
    LEAKED = "leaked"


def replay(
    connection: Connection,
    program_id: int,
    *,
    sealer: Sealer,
    ids: Sequence[int] | None = None,
    cause: str | None = None,
    by: By,
) -> Replay:
    """Perform rejected calls by their ids, or the next ones that were rejected with a code, or with ANY code.

    Raises ValidationError without ids and without a cause, and with both; OverCap beyond what agent keys may perform.
    """
    if (ids is None) == (cause is None):
        raise ValidationError(fields=[FieldError("ids", "Send either ids or cause")])
    mine = _row.program_id == program_id
    if ids is None:
        wanted = (mine, _row.state == KeptState.KEPT, *([] if cause == ANY else [_row.code == cause]))
        calls = _perform(connection, program_id, _oldest(connection, *wanted), sealer, by.at)
        remaining = _count(connection, *wanted, or_(_row.tried_at.is_(None), _row.tried_at < by.at))
    else:
        named = {row.id: row for row in _oldest(connection, mine, _row.id.in_(ids))}
        kept = [row for row in named.values() if row.state == KeptState.KEPT]
        tried = {each.id: each for each in _perform(connection, program_id, kept, sealer, by.at)}
        calls = [tried.get(each) or _untried(each, named.get(each)) for each in dict.fromkeys(ids)]
        remaining = 0
    done = _summary(calls, remaining)
    agent_caps.count(connection, program_id, agent_caps.REPLAYED, *[0] * done.performed, by=by)
    about = {"cause": cause} if cause else {"ids": list(ids or ())}
    counts = {"performed": done.performed, "still_rejected": done.still_rejected}
    change = Change("rejected_call.replay", after=about | counts)
    audit.write(connection, program_id, [change] if any(counts.values()) else [], by=by)
    return done


def decide_old_key(
    connection: Connection,
    program_id: int,
    *,
    decision: OldKeyDecision,
    sealer: Sealer,
    caller: str | None = None,
    by: By,
) -> Replay:
    """Perform or discard what waits: of one caller (or UNKNOWN ones), or of all. After a leak, discard it all."""
    of_caller = _row.caller.is_(None) if caller == UNKNOWN else _row.caller == caller
    is_whole = caller is None or decision == OldKeyDecision.LEAKED
    waiting = [_row.program_id == program_id, _row.state == KeptState.WAITING, *([] if is_whole else [of_caller])]
    if decision == OldKeyDecision.ACCEPT:
        calls = _perform(connection, program_id, _oldest(connection, *waiting), sealer, by.at)
        done = _summary(calls, _count(connection, *waiting))
    else:
        gone = {"state": KeptState.DISCARDED, "sealed": None, "tried_at": by.at}
        discarded = connection.execute(update(kept_calls).where(*waiting).values(gone)).rowcount
        done = _summary([], 0)._replace(discarded=discarded)
    if decision == OldKeyDecision.LEAKED:
        old = retired_program_keys.c
        mine = (old.program_id == program_id, old.leaked_at.is_(None))
        connection.execute(update(retired_program_keys).where(*mine).values(leaked_at=by.at))
    counts = {name: getattr(done, name) for name in ("performed", "still_rejected", "discarded")}
    after = {"caller": None if is_whole else caller, **counts}
    audit.write(connection, program_id, [Change(f"replaced_key.{decision}", after=after)], by=by)
    return done


def _oldest(connection: Connection, *conditions: ColumnElement[bool]) -> Sequence[Any]:
    """Return the next calls, locked: those that were not tried before those that were, the oldest first."""
    order = (_row.tried_at.asc().nulls_first(), _row.id)
    return connection.execute(
        select(kept_calls).where(*conditions).order_by(*order).limit(MOST_AT_ONCE).with_for_update()
    ).all()


def _count(connection: Connection, *conditions: ColumnElement[bool]) -> int:
    return connection.execute(select(func.count()).select_from(kept_calls).where(*conditions)).scalar_one()


def _perform(
    connection: Connection, program_id: int, rows: Sequence[Any], sealer: Sealer, at: datetime
) -> list[ReplayedCall]:
    """Perform locked calls by the terms of their time, and note what became of each.

    Leads come before sales, and these before refunds. Each kind and day is one batch, so a refund has its own day.
    """
    calls = [(row, item) for row in rows if (item := opened(row, sealer))]
    program = program_terms.load_one(connection, program_id)
    performed, kinds = [], list(OPERATIONS)
    calls.sort(key=lambda each: (kinds.index(each[0].call), each[1].at.date(), each[0].id))
    for (call, _), group in groupby(calls, key=lambda each: (each[0].call, each[1].at.date())):
        ids, batch = [], []
        for row, item in group:
            happened_at = item.happened_at if isinstance(item, Sale) else item.at
            terms_of = partial(terms_in_force.of_partner, connection, program_id, at=happened_at)
            # a sale is a backfill of when it was received, unless it named a time
            then = item._replace(at=at, occurred_at=happened_at) if isinstance(item, Sale) else item
            ids.append(row.id)
            batch.append((program._replace(terms_of=terms_of), then))
        for call_id, result in zip(ids, OPERATIONS[call][1](connection, batch), strict=True):
            said = (result.code, result.text) if isinstance(result, ServiceError) else ()
            outcome = ReplayOutcome.REJECTED if said else ReplayOutcome.PERFORMED
            performed.append(ReplayedCall(call_id, call, outcome, *said))
    ended = [each.id for each in performed if each.code is None or each.code in REPEATS]
    again = [each.id for each in performed if each.id not in set(ended)]
    for tried, state in ((ended, {"state": KeptState.REPLAYED, "sealed": None}), (again, {"state": KeptState.KEPT})):
        mine = (_row.program_id == program_id, _row.id.in_(tried))
        if tried:
            connection.execute(update(kept_calls).where(*mine).values(state | {"tried_at": at}))
    return performed


def _untried(call_id: int, row: Any) -> ReplayedCall:
    outcomes = {KeptState.WAITING: ReplayOutcome.WAITING, KeptState.REPLAYED: ReplayOutcome.BEFORE}
    outcome = ReplayOutcome.NOT_KEPT if row is None else outcomes.get(row.state, ReplayOutcome.NOT_KEPT)
    return ReplayedCall(call_id, row and row.call, outcome)


def _summary(calls: list[ReplayedCall], remaining: int) -> Replay:
    outcomes = [each.outcome for each in calls]
    counts = (outcomes.count(ReplayOutcome.PERFORMED), outcomes.count(ReplayOutcome.REJECTED))
    return Replay(*counts, 0, remaining, calls)
