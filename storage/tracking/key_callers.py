"""Who calls with a program key, also a replaced one: counted in memory, stored a batch at a time, and listed."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import Connection, select

from storage.engine.statements import Statement
from storage.rules import click_details
from storage.rules.untrusted import Untrusted
from storage.tables import key_caller_weeks, key_callers, program_keys
from storage.tables.columns import to_millis
from storage.tracking import program_terms
from storage.tracking.received_calls import PresentedKey

MOST_COUNTED = 5_000  # between two batches: what invents user agents does not fill the memory
_add = Statement("key_caller_add")
_add_week = Statement("key_caller_week_add")


class KeyCaller(NamedTuple):
    """Who calls with a key: the program's current one, or one that was replaced."""

    is_current: bool
    user_agent: str | None
    network_hash: str | None
    calls: dict[str, int]  # of each kind
    first_at: datetime
    last_at: datetime
    caller: Untrusted | None  # how sales, refunds and rejected calls name them
    weeks: dict[str, int] | None  # all calls by the week's Monday, if that was asked for


class CallerCounts:
    """The calls since the last batch: how many, and when first and last, by key with caller and by kind of call."""

    def __init__(self) -> None:
        self._counts: dict[tuple[PresentedKey, str], list[Any]] = {}

    def add(self, key: PresentedKey, call: str, at: datetime) -> None:
        counted = self._counts.get((key, call))
        if counted is not None:
            counted[0] += 1
            counted[2] = max(counted[2], at)
        elif len(self._counts) < MOST_COUNTED:
            self._counts[key, call] = [1, at, at]

    def take(self) -> dict[tuple[PresentedKey, str], list[Any]]:
        counts, self._counts = self._counts, {}
        return counts


def save(connection: Connection, counts: Mapping[tuple[PresentedKey, str], Sequence[Any]]) -> None:
    """Add calls to what is stored; those with a key that no program has or had are dropped."""
    holders = program_terms.of_keys(connection, {key.key_hash for key, _ in counts})
    merged: dict[tuple[Any, ...], list[Any]] = {}
    weeks = Counter[tuple[Any, ...]]()
    for (key, call), (calls, first_at, last_at) in counts.items():
        if key.key_hash in holders:
            mine = (holders[key.key_hash].program_id, key.key_hash)
            user_agent = click_details.clean(key.user_agent or "", click_details.LONGEST_USER_AGENT) or ""
            who = (*mine, call, user_agent, key.network_hash or "")
            row = merged.setdefault(who, [0, to_millis(first_at), to_millis(last_at)])
            row[:] = [row[0] + calls, min(row[1], to_millis(first_at)), max(row[2], to_millis(last_at))]
            monday = last_at.date() - timedelta(days=last_at.weekday())
            weeks[*mine, key.caller or "", str(monday)] += calls
    if merged:
        _add(connection, [[*key, *merged[key]] for key in sorted(merged)])
        _add_week(connection, [[*key, weeks[key]] for key in sorted(weeks)])


def list_callers(connection: Connection, program_id: int, *, limit: int = 50, by_week: bool = False) -> list[KeyCaller]:
    """Return the callers of the last 90 days, the latest first; the last call is at most a minute behind."""
    key, caller, week = program_keys.c, key_callers.c, key_caller_weeks.c
    current = connection.execute(select(key.key_hash).where(key.program_id == program_id)).scalar()
    by_caller: defaultdict[tuple[str, ...], list[Any]] = defaultdict(list)
    stored = select(key_callers).where(caller.program_id == program_id).order_by(caller.last_at.desc())
    for each in connection.execute(stored):
        by_caller[each.key_hash, each.user_agent, each.network_hash].append(each)
    weeks: defaultdict[tuple[str, str], dict[str, int]] = defaultdict(dict)
    by_monday = select(key_caller_weeks).where(week.program_id == program_id).order_by(week.week.desc())
    for each in connection.execute(by_monday) if by_week else ():
        weeks[each.key_hash, each.caller][str(each.week)] = int(each.calls)
    callers = []
    for (key_hash, user_agent, network_hash), rows in list(by_caller.items())[:limit]:
        name = click_details.caller_name(user_agent, network_hash)
        who = (key_hash == current, user_agent or None, network_hash or None)
        calls = {each.call: each.calls for each in rows}
        first_at = min(each.first_at for each in rows)
        callers.append(KeyCaller(*who, calls, first_at, rows[0].last_at, name, weeks.get((key_hash, name or ""))))
    return callers
