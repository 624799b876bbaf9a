"""How far a program is with replacing its key: whether calls still come with the old one, and which of them wait."""

from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from sqlalchemy import Connection

from storage.engine.statements import read_statement
from storage.rules.untrusted import Untrusted
from storage.tables.columns import Timestamp
from storage.tracking.program_terms import ROTATION

MOST_CALLERS = 50
_RETIRED = read_statement("retired_keys", retired_at=Timestamp, leaked_at=Timestamp)
_CALLS = read_statement("rotation_calls", last_seen_at=Timestamp)
_CALLERS = read_statement("waiting_callers", first_at=Timestamp, last_at=Timestamp)


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
    retired = connection.execute(_RETIRED, {"program_id": program_id}).all()
    if len(retired) <= 1:  # a program is created with a hidden key, which its first one replaces
        return KeyRotation(RotationState.NONE, None, None, was_leaked=False, waiting_calls=0, waiting_callers=[])
    replaced_at = retired[0].retired_at
    of = {"program_id": program_id, "since": replaced_at, "most": MOST_CALLERS}
    last_seen_at, kept, waiting = connection.execute(_CALLS, of).one()
    callers = [WaitingCaller(*row) for row in connection.execute(_CALLERS, of)]
    is_quiet = at >= max(replaced_at, last_seen_at or replaced_at) + ROTATION
    is_finished = not waiting and (is_quiet or kept)
    state = RotationState.FINISHED if is_finished else RotationState.UNDER_WAY
    return KeyRotation(state, replaced_at, last_seen_at, retired[0].leaked_at is not None, waiting, callers)
