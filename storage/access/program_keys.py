"""Program keys: each program has one, stored as a hash and looked up on every call that presents it."""

from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, delete, insert, select, update

from storage.engine import audit
from storage.rules import keys
from storage.rules.errors import ApiKeyRotationRequired, InvalidKey, ValidationError, required
from storage.tables import program_keys, retired_program_keys


class ProgramKey(NamedTuple):
    program_id: int
    flagged_at: datetime | None
    rotate_by: datetime | None  # None: it is not flagged

    def has_expired(self, at: datetime) -> bool:
        return keys.rotation_state(self.rotate_by, at) == keys.Rotation.EXPIRED


class NewKey(NamedTuple):
    api_token: str  # shown once and never stored
    api_token_masked: str


def authenticate(connection: Connection, key_hash: str, *, at: datetime) -> ProgramKey:
    """Return the key with this hash. Raises InvalidKey, or ApiKeyRotationRequired at or after its deadline."""
    key = required(_find(connection, key_hash), InvalidKey)
    if key.has_expired(at):
        raise ApiKeyRotationRequired
    return key


def _find(connection: Connection, key_hash: str) -> ProgramKey | None:
    columns = (program_keys.c.program_id, program_keys.c.flagged_at, program_keys.c.rotate_by)
    row = connection.execute(select(*columns).where(program_keys.c.key_hash == key_hash)).one_or_none()
    return None if row is None else ProgramKey(*row)


def create(connection: Connection, program_id: int, *, at: datetime) -> None:
    """Give a new program a key whose value is not shown; the owner regenerates it to get one."""
    connection.execute(insert(program_keys).values(_values(program_id, keys.generate_program_key(program_id), at)))


def regenerate(connection: Connection, program_id: int, *, by: audit.By) -> NewKey:
    """Replace a program's key: the commit invalidates the old one and clears any flag."""
    return _replace(connection, program_id, keys.generate_program_key(program_id), "program_key.regenerate", by)


def import_key(connection: Connection, program_id: int, secret: str, *, by: audit.By) -> NewKey:
    """Replace a program's key by one without the prefix. Raises ValidationError for a weak or used one."""
    if len(secret) < keys.SHORTEST_IMPORT or not secret.isascii() or not secret.isprintable() or " " in secret:
        raise ValidationError(f"A key has at least {keys.SHORTEST_IMPORT} printable ASCII characters and no space.")
    if _find(connection, keys.digest(secret)) is not None:
        raise ValidationError("This key is in use.")
    return _replace(connection, program_id, secret, "program_key.import", by)


def flag(connection: Connection, program_id: int, *, rotate_by: datetime, by: audit.By) -> None:
    """Mark a program's key for mandatory rotation by a deadline."""
    mine = program_keys.c.program_id == program_id
    before = connection.execute(select(program_keys.c.rotate_by).where(mine)).scalar()
    timestamps = (before and before.isoformat(), rotate_by.isoformat())
    connection.execute(update(program_keys).where(mine).values(flagged_at=by.at, rotate_by=rotate_by))
    change = audit.Change("program_key.flag", program_id, "rotate_by", *timestamps)
    audit.write(connection, program_id, [change], by=by)


def _replace(connection: Connection, program_id: int, secret: str, action: str, by: audit.By) -> NewKey:
    mine = program_keys.c.program_id == program_id
    old = connection.execute(select(program_keys.c.key_hash).where(mine).with_for_update()).scalar_one()
    new = _values(program_id, secret, by.at)
    reused = retired_program_keys.c.key_hash.in_([old, new["key_hash"]])
    connection.execute(delete(retired_program_keys).where(reused))
    connection.execute(insert(retired_program_keys).values(key_hash=old, program_id=program_id, retired_at=by.at))
    connection.execute(update(program_keys).where(mine).values(new))
    audit.write(connection, program_id, [audit.Change(action, program_id)], by=by)
    return NewKey(secret, keys.mask(new["prefix"], new["last4"]))


def _values(program_id: int, secret: str, at: datetime) -> dict[str, Any]:
    prefix = keys.PROGRAM_PREFIX if secret.startswith(keys.PROGRAM_PREFIX) else ""
    new = {"program_id": program_id, "key_hash": keys.digest(secret), "prefix": prefix, "last4": secret[-4:]}
    return {**new, "created_at": at, "flagged_at": None, "rotate_by": None}
