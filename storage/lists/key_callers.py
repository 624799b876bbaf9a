"""Who uses a program's keys: the programs and networks that called, how often, and when first and last."""

from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, select

from storage.tables import key_callers, program_keys

MOST_CALLERS = 50


class KeyCaller(NamedTuple):
    """Who calls with a key: the program's current one, or one that was replaced. `calls` counts each kind of call."""

    is_current: bool
    user_agent: str | None
    network_hash: str | None
    calls: dict[str, int]
    first_at: datetime
    last_at: datetime


def list_callers(connection: Connection, program_id: int, *, limit: int = MOST_CALLERS) -> list[KeyCaller]:
    """Return the callers of the last 90 days, the latest first; the last call is at most a minute behind."""
    row, key = key_callers.c, program_keys.c
    current = connection.execute(select(key.key_hash).where(key.program_id == program_id)).scalar()
    found: dict[tuple[Any, ...], KeyCaller] = {}
    for each in connection.execute(
        select(key_callers).where(row.program_id == program_id).order_by(row.last_at.desc())
    ):
        who = (each.key_hash, each.user_agent, each.network_hash)
        empty = KeyCaller(
            each.key_hash == current,
            each.user_agent or None,
            each.network_hash or None,
            {},
            each.first_at,
            each.last_at,
        )
        caller = found.setdefault(who, empty)
        caller.calls[each.call] = each.calls
        found[who] = caller._replace(first_at=min(caller.first_at, each.first_at))
    return list(found.values())[:limit]
