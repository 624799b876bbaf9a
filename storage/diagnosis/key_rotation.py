"""How far a program is with replacing its key: whether calls still come with the old one, and which of them wait."""

from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from sqlalchemy import Connection, func, select

from storage.rules.errors import InvalidKey
from storage.rules.untrusted import Untrusted
from storage.tables import kept_calls, refused_calls, retired_program_keys
from storage.tracking.kept_calls import KeptState
from storage.tracking.program_terms import ROTATION

MOST_CALLERS = 50


class RotationState(StrEnum):
    """Whether the key that a program had before is still in use, as far as calls say."""

    NONE = "none"
    UNDER_WAY = "under_way"
    FINISHED = "finished"


class WaitingCaller(NamedTuple):
    """Who calls with a replaced key (the program and the network), and their calls that wait for an owner."""

    caller: Untrusted | None
    calls: int
    first_at: datetime
    last_at: datetime


class KeyRotation(NamedTuple):
    """The last replacement of the key; `state` is none where it was never replaced.

    It is finished once no call has come with the old key for 72 hours, or an owner has decided on all that did.
    """

    state: RotationState
    replaced_at: datetime | None
    old_key_last_seen_at: datetime | None
    was_leaked: bool
    waiting_calls: int
    waiting_callers: list[WaitingCaller]


def check_rotation(connection: Connection, program_id: int, *, at: datetime) -> KeyRotation:
    """Return how far the last replacement of a program's key is."""
    old, call, kept = retired_program_keys.c, refused_calls.c, kept_calls.c
    shown = select(old.retired_at, old.leaked_at).where(old.program_id == program_id).order_by(old.retired_at.desc())
    retired = connection.execute(shown).all()
    if len(retired) <= 1:  # a program is created with a hidden key, which its first one replaces
        return KeyRotation(RotationState.NONE, None, None, was_leaked=False, waiting_calls=0, waiting_callers=[])
    replaced_at = retired[0].retired_at
    seen = select(func.max(call.at)).where(call.program_id == program_id, call.code == InvalidKey.code)
    last_seen_at = connection.execute(seen.where(call.at >= replaced_at)).scalar()
    apart = (kept.program_id == program_id, kept.code == InvalidKey.code, kept.at >= replaced_at)
    was_kept = connection.execute(select(kept.id).where(*apart).limit(1)).scalar() is not None
    waiting = (kept.program_id == program_id, kept.state == KeptState.WAITING)
    totals = (func.count(), func.min(kept.at), func.max(kept.at))
    by_caller = select(kept.caller, *totals).where(*waiting).group_by(kept.caller).order_by(func.max(kept.at).desc())
    callers = [WaitingCaller(*row) for row in connection.execute(by_caller.limit(MOST_CALLERS))]
    count = connection.execute(select(func.count()).select_from(kept_calls).where(*waiting)).scalar_one()
    is_quiet = at >= max(replaced_at, last_seen_at or replaced_at) + ROTATION
    is_finished = not count and (is_quiet or was_kept)
    state = RotationState.FINISHED if is_finished else RotationState.UNDER_WAY
    return KeyRotation(state, replaced_at, last_seen_at, retired[0].leaked_at is not None, count, callers)
