"""Who calls with a program key, also with one that was replaced: counted in memory, and stored a batch at a time."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import Connection

from storage.engine.recurring import delete_some
from storage.engine.statements import Statement
from storage.rules.reports import dimensions
from storage.tables import key_callers
from storage.tables.columns import to_millis
from storage.tracking import program_terms

KEPT_DAYS = 90
MOST_CALLERS = 5_000  # between two batches: what invents user agents does not fill the memory
LONGEST_USER_AGENT = 160
LONGEST_CALL = 16
_add = Statement("key_caller_add")


class CallerOfKey(NamedTuple):
    """A kind of calls with a key, by a program (its user agent) in a network (its hash); empty: unknown."""

    key_hash: str
    call: str
    user_agent: str
    network_hash: str


class Counted(NamedTuple):
    """How often a caller called, and when first and last."""

    calls: int
    first_at: datetime
    last_at: datetime


class CallerCounts:
    """The calls since the last batch."""

    def __init__(self) -> None:
        self._counts: dict[CallerOfKey, Counted] = {}

    def add(self, caller: CallerOfKey, at: datetime) -> None:
        """Count a call."""
        counted = self._counts.get(caller)
        if counted is not None:
            self._counts[caller] = Counted(counted.calls + 1, counted.first_at, max(counted.last_at, at))
        elif len(self._counts) < MOST_CALLERS:
            self._counts[caller] = Counted(1, at, at)

    def take(self) -> list[tuple[CallerOfKey, Counted]]:
        """Return the calls and forget them."""
        counts, self._counts = self._counts, {}
        return list(counts.items())


def save(connection: Connection, counts: Sequence[tuple[CallerOfKey, Counted]]) -> None:
    """Add calls to what is stored; those with a key that no program has or had are dropped."""
    holders = program_terms.of_keys(connection, {caller.key_hash for caller, _ in counts})
    rows = [
        [
            holders[caller.key_hash].program_id,
            *_cleaned(caller),
            seen.calls,
            to_millis(seen.first_at),
            to_millis(seen.last_at),
        ]
        for caller, seen in counts
        if caller.key_hash in holders
    ]
    merged: dict[tuple[Any, ...], list[Any]] = {}
    for *key, calls, first_at, last_at in rows:
        row = merged.setdefault(tuple(key), [0, first_at, last_at])
        row[:] = [row[0] + calls, min(row[1], first_at), max(row[2], last_at)]
    if merged:
        _add(connection, [[*key, *merged[key]] for key in sorted(merged)])


def prune(connection: Connection, *, at: datetime) -> int:
    """Delete a chunk of the callers that have not called for 90 days; return how many."""
    return delete_some(connection, key_callers, key_callers.c.last_at < at - timedelta(days=KEPT_DAYS))


def _cleaned(caller: CallerOfKey) -> CallerOfKey:
    return caller._replace(
        call=caller.call[:LONGEST_CALL], user_agent=dimensions.clean(caller.user_agent, LONGEST_USER_AGENT) or ""
    )
