"""The refused-call log: every refused keyed call, kept 30 days, to answer "why was my sale not credited"."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import Connection, delete, select

from storage.access.program_keys import ProgramKey, signalled
from storage.engine import ids
from storage.engine.group_commit import set_based
from storage.engine.statements import Append
from storage.rules import rotation
from storage.rules.errors import ApiKeyRotationRequired, InvalidKey, ServiceError
from storage.rules.rotation import Rotation
from storage.tables import refused_calls, retired_program_keys
from storage.tables.columns import to_millis

KEPT_DAYS = 30


class RejectedCall(NamedTuple):
    """A keyed call that was refused: what it was, why, and whom it was about."""

    key_hash: str
    call: str
    refusal: ServiceError
    status: int
    request_id: str
    at: datetime
    customer_key: str | None = None
    click_id: str | None = None
    transaction_id: str | None = None


class Explained(NamedTuple):
    """What the caller is told: a key that does not work outranks whatever else was wrong."""

    refusal: ServiceError
    key: ProgramKey | None


@set_based
def record(connection: Connection, batch: Sequence[RejectedCall]) -> list[Explained]:
    """Log refused calls under the program of their key (also of a key that was replaced) and say what to answer."""
    explained = [_explain(connection, call) for call in batch]
    rows = []
    for call, told, event_id in zip(batch, explained, ids.after(batch[0].at, len(batch)), strict=True):
        program_id = told.key.program_id if told.key else _replaced(connection, call.key_hash)
        if program_id is not None:
            rows.append(_row(program_id, event_id, call, told.refusal))
    if rows:
        _insert(connection, rows)
    return explained


def prune(connection: Connection, *, at: datetime) -> int:
    """Forget refused calls older than 30 days; return how many."""
    old = refused_calls.c.at < at - timedelta(days=KEPT_DAYS)
    return connection.execute(delete(refused_calls).where(old)).rowcount


def _explain(connection: Connection, call: RejectedCall) -> Explained:
    key = signalled(connection, call.key_hash)
    if key is None:
        told: ServiceError = InvalidKey()
    elif rotation.state(key.rotate_by, call.at) == Rotation.EXPIRED:
        told = ApiKeyRotationRequired()
    else:
        told = call.refusal
    return Explained(told, key)


def _replaced(connection: Connection, key_hash: str) -> int | None:
    """Return the program whose key this was before it was replaced: its owner wants to know who still uses it."""
    old = retired_program_keys.c
    return connection.execute(select(old.program_id).where(old.key_hash == key_hash)).scalar()


def _row(program_id: int, event_id: int, call: RejectedCall, told: ServiceError) -> tuple[Any, ...]:
    fields = ", ".join(field.field for field in told.fields) or None
    status = 401 if isinstance(told, InvalidKey | ApiKeyRotationRequired) else call.status
    what = [call.call, told.code, status, told.text, fields]
    whom = [call.customer_key, call.click_id, call.transaction_id, call.request_id]
    return (program_id, event_id, *what, *whom, to_millis(call.at))


_insert = Append(
    refused_calls,
    "program_id",
    "id",
    "call",
    "code",
    "status",
    "message",
    "fields",
    "customer_key",
    "click_id",
    "transaction_id",
    "request_id",
    "at",
)
