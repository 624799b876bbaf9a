"""Agent keys: issued by the operator for one workspace, stored as a hash, narrowed by scopes and programs."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, func, insert, literal, select, update

from storage.rules import keys
from storage.rules.errors import FieldError, NotFound, ValidationError
from storage.rules.scope import Scope
from storage.tables import agent_keys, programs, workspaces


class AgentKey(NamedTuple):
    """A key as a read may show it; `program_ids` None reaches every program of the workspace."""

    id: int
    workspace_id: int
    name: str
    masked: str
    scopes: tuple[Scope, ...]
    program_ids: tuple[int, ...] | None
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None


class Issued(NamedTuple):
    """A fresh key: `secret` is shown once and stored nowhere."""

    id: int
    secret: str


def issue(
    connection: Connection,
    workspace_id: int,
    *,
    name: str,
    scopes: Sequence[Scope],
    at: datetime,
    program_ids: Sequence[int] = (),
    expires_at: datetime | None = None,
) -> Issued:
    """Issue a key with these scopes, for the listed programs (none listed: all of the workspace).

    Raises NotFound when there is no such workspace, ValidationError for no scope or another workspace's program.
    """
    if connection.execute(select(workspaces.c.id).where(workspaces.c.id == workspace_id)).scalar() is None:
        raise NotFound(f"There is no workspace {workspace_id}.")
    if not scopes:
        raise ValidationError(fields=[FieldError("scope", "A key needs at least one scope")])
    _require_own(connection, workspace_id, program_ids)
    secret = keys.generate(keys.AGENT_PREFIX)
    row = {
        "workspace_id": workspace_id,
        "name": name,
        "key_hash": keys.digest(secret),
        "last4": secret[-4:],
        "scopes": " ".join(scope for scope in Scope if scope in scopes),
        "program_ids": " ".join(map(str, sorted(set(program_ids)))) or None,
        "created_at": at,
        "expires_at": expires_at,
    }
    return Issued(connection.execute(insert(agent_keys).values(**row).returning(agent_keys.c.id)).scalar_one(), secret)


def list_all(connection: Connection, *, workspace_id: int | None = None) -> list[AgentKey]:
    """Return every key, also expired and revoked ones, in the order of their issue; of one workspace if it is named."""
    all_keys = select(agent_keys).order_by(agent_keys.c.id)
    mine = all_keys if workspace_id is None else all_keys.where(agent_keys.c.workspace_id == workspace_id)
    return [of_row(row) for row in connection.execute(mine)]


def revoke(connection: Connection, agent_key_id: int, *, at: datetime) -> datetime:
    """End a key for good and return when it ended (earlier, if it had been revoked). Raises NotFound."""
    this = agent_keys.c.id == agent_key_id
    first = func.coalesce(agent_keys.c.revoked_at, literal(at, agent_keys.c.revoked_at.type))
    ended = update(agent_keys).where(this).values(revoked_at=first)
    revoked_at = connection.execute(ended.returning(agent_keys.c.revoked_at)).scalar()
    if revoked_at is None:
        raise NotFound(f"There is no agent key {agent_key_id}.")
    return revoked_at


def of_row(row: Any) -> AgentKey:
    """Read a key from a row of its table."""
    return AgentKey(
        row.id,
        row.workspace_id,
        row.name,
        keys.mask(keys.AGENT_PREFIX, row.last4),
        tuple(Scope(scope) for scope in row.scopes.split()),
        tuple(int(program_id) for program_id in row.program_ids.split()) if row.program_ids else None,
        row.created_at,
        row.expires_at,
        row.revoked_at,
        row.last_used_at,
    )


def _require_own(connection: Connection, workspace_id: int, program_ids: Sequence[int]) -> None:
    mine = select(programs.c.id).where(programs.c.workspace_id == workspace_id, programs.c.id.in_(program_ids))
    foreign = set(program_ids) - set(connection.execute(mine).scalars())
    if foreign:
        raise ValidationError(
            fields=[FieldError("program", f"Workspace {workspace_id} has no program {n}") for n in sorted(foreign)]
        )
