"""The history of a program's commission terms and of its key: since when each holds."""

from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, select

from storage.rules.keys import Rotation, rotation_state
from storage.rules.settings import SETTINGS, published
from storage.tables import commission_terms, program_keys, retired_program_keys

MOST = 20
TERMS = tuple(setting for setting in SETTINGS if setting.is_term)


class TermsVersion(NamedTuple):
    """A version of the terms, under the names and in the units of the APIs.

    Sales that were recorded from `since` on and before `until` earn by it.
    """

    version: int
    since: datetime
    until: datetime | None
    by_agent: bool
    terms: dict[str, Any]


class KeyHistory(NamedTuple):
    """The key's age and state, and when the keys before it were replaced, newest first."""

    since: datetime
    state: Rotation
    rotate_by: datetime | None
    earlier_ended_at: list[datetime]


def list_terms(connection: Connection, program_id: int) -> list[TermsVersion]:
    """Return a program's newest versions of its terms, newest first."""
    mine = select(commission_terms).where(commission_terms.c.program_id == program_id)
    rows = connection.execute(mine.order_by(commission_terms.c.version.desc()).limit(MOST)).all()
    ends = [None, *(row.created_at for row in rows)]
    return [
        TermsVersion(row.version, row.created_at, until, row.by_agent, published(row, TERMS))
        for row, until in zip(rows, ends, strict=False)
    ]


def get_key(connection: Connection, program_id: int, *, at: datetime) -> KeyHistory:
    """Return the history of a program's key."""
    key, old = program_keys.c, retired_program_keys.c
    row = connection.execute(select(program_keys).where(key.program_id == program_id)).one()
    ended = select(old.retired_at).where(old.program_id == program_id).order_by(old.retired_at.desc()).limit(MOST)
    earlier = list(connection.execute(ended).scalars())
    return KeyHistory(row.created_at, rotation_state(row.rotate_by, at), row.rotate_by, earlier)
