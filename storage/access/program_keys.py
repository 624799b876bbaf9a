"""Program keys: one for each program, stored as a hash, looked up in the database by every call that presents one."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, Text, delete, insert, select, update

from storage.engine import audit
from storage.engine.audit import Actor
from storage.engine.statements import Given, Prepared
from storage.rules import keys, rotation
from storage.rules.errors import ApiKeyRotationRequired, InvalidKey, ServiceError, ValidationError
from storage.rules.rotation import Rotation
from storage.tables import program_keys, retired_program_keys
from storage.tables.columns import from_millis

_TRUSTED = "payments of program "


class ProgramKey(NamedTuple):
    """A key that was presented: its program, and when it was flagged and must be rotated (None: not flagged)."""

    program_id: int
    flagged_at: datetime | None
    rotate_by: datetime | None


class NewKey(NamedTuple):
    """A fresh key: `secret` is shown once and stored nowhere."""

    secret: str
    masked: str


def authenticate(connection: Connection, key_hash: str, *, at: datetime) -> ProgramKey:
    """Return the key with this hash. Raises InvalidKey, or ApiKeyRotationRequired at or after its deadline."""
    return working(identify(connection, [key_hash], at=at)[key_hash])


def trusted(program_id: int) -> str:
    """Return what the service itself presents for a program whose payment processor signed the call.

    No caller can present it: what comes over HTTP is a hash, and this is none.
    """
    return f"{_TRUSTED}{program_id}"


def is_trusted(key_hash: str) -> bool:
    """Say whether this is what `trusted` returned."""
    return key_hash.startswith(_TRUSTED)


def working(found: ProgramKey | ServiceError) -> ProgramKey:
    """Return a key that `identify` found; raises the refusal that it found instead."""
    if isinstance(found, ServiceError):
        raise found
    return found


def identify(
    connection: Connection, key_hashes: Sequence[str], *, at: datetime
) -> dict[str, ProgramKey | ServiceError]:
    """Return, for each hash, its key or the refusal that `authenticate` raises."""
    found: dict[str, ProgramKey | ServiceError] = {key_hash: InvalidKey() for key_hash in key_hashes}
    for key_hash in found:
        if is_trusted(key_hash):
            found[key_hash] = ProgramKey(int(key_hash.removeprefix(_TRUSTED)), None, None)
    for row in _find(connection, [[key_hash] for key_hash in found]):
        key = of_row(row)
        found[row.key_hash] = key if _works(key, at) else ApiKeyRotationRequired()
    return found


def signalled(connection: Connection, key_hash: str) -> ProgramKey | None:
    """Return the key with this hash whatever its state, for the rotation headers; None if it is unknown."""
    rows = _find(connection, [[key_hash]])
    return of_row(rows[0]) if rows else None


def of_row(row: Any) -> ProgramKey:
    """Read a key from a row that carries program_id, flagged_at and rotate_by in milliseconds."""
    flagged_at, rotate_by = (None if at is None else from_millis(at) for at in (row.flagged_at, row.rotate_by))
    return ProgramKey(row.program_id, flagged_at, rotate_by)


def _works(key: ProgramKey, at: datetime) -> bool:
    return rotation.state(key.rotate_by, at) != Rotation.EXPIRED


def create(connection: Connection, program_id: int, *, at: datetime) -> None:
    """Give a new program its key. Nobody learns the value: the owner regenerates it to see one."""
    connection.execute(insert(program_keys).values(_values(program_id, keys.generate(keys.PROGRAM_PREFIX), at)))


def regenerate(connection: Connection, program_id: int, *, at: datetime, actor: Actor | None = None) -> NewKey:
    """Replace a program's key: the old one is dead once this is committed, and any flag is cleared."""
    new_key = _replace(connection, program_id, keys.generate(keys.PROGRAM_PREFIX), at)
    audit.write(connection, program_id, [audit.Change("program_key.regenerate", program_id)], actor=actor, at=at)
    return new_key


def import_key(
    connection: Connection, program_id: int, secret: str, *, at: datetime, actor: Actor | None = None
) -> NewKey:
    """Replace a program's key by one from before the prefix existed. Raises ValidationError for a weak or used one."""
    if len(secret) < keys.SHORTEST_IMPORT or not secret.isascii() or not secret.isprintable() or " " in secret:
        raise ValidationError(f"A key has at least {keys.SHORTEST_IMPORT} printable ASCII characters and no space.")
    if signalled(connection, keys.digest(secret)) is not None:
        raise ValidationError("This key is in use.")
    audit.write(connection, program_id, [audit.Change("program_key.import", program_id)], actor=actor, at=at)
    return _replace(connection, program_id, secret, at)


def flag(
    connection: Connection, program_id: int, *, rotate_by: datetime, at: datetime, actor: Actor | None = None
) -> None:
    """Mark a program's key for mandatory rotation by a deadline."""
    mine = program_keys.c.program_id == program_id
    before = connection.execute(select(program_keys.c.rotate_by).where(mine)).scalar()
    moments = (before and before.isoformat(), rotate_by.isoformat())
    connection.execute(update(program_keys).where(mine).values(flagged_at=at, rotate_by=rotate_by))
    change = audit.Change("program_key.flag", program_id, "rotate_by", *moments)
    audit.write(connection, program_id, [change], actor=actor, at=at)


def _replace(connection: Connection, program_id: int, secret: str, at: datetime) -> NewKey:
    mine = program_keys.c.program_id == program_id
    old = connection.execute(select(program_keys.c.key_hash).where(mine).with_for_update()).scalar_one()
    new = _values(program_id, secret, at)
    reused = retired_program_keys.c.key_hash.in_([old, new["key_hash"]])
    connection.execute(delete(retired_program_keys).where(reused))
    connection.execute(insert(retired_program_keys).values(key_hash=old, program_id=program_id, retired_at=at))
    connection.execute(update(program_keys).where(mine).values(new))
    return NewKey(secret, keys.mask(new["prefix"], new["last4"]))


def _values(program_id: int, secret: str, at: datetime) -> dict[str, Any]:
    prefix = keys.PROGRAM_PREFIX if secret.startswith(keys.PROGRAM_PREFIX) else ""
    cleared = {"flagged_at": None, "rotate_by": None}
    shown = {"prefix": prefix, "last4": secret[-4:]}
    return {"program_id": program_id, "key_hash": keys.digest(secret), "created_at": at, **shown, **cleared}


def _build_find(_: Callable[..., Any]) -> Any:
    given = Given(key_hash=Text())
    held = given.rows.join(program_keys, program_keys.c.key_hash == given.key_hash)
    key = program_keys.c
    return select(key.key_hash, key.program_id, key.flagged_at, key.rotate_by).select_from(held)


_find = Prepared(_build_find)
