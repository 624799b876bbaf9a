"""Agent keys: the operator issues them for one workspace; scopes and programs limit them; only a hash is stored."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import Connection, delete, func, insert, literal, or_, select, update

from storage.access import workspaces
from storage.engine.audit import AGENT_KEY, Actor
from storage.engine.database import insert_for
from storage.engine.recurring import RESPONSE_DAYS
from storage.engine.statements import Statement
from storage.rules import errors, keys
from storage.rules.scope import Scope
from storage.tables import agent_keys, agent_rejections, idempotent_answers, program_keys, programs
from storage.tables.columns import from_millis

_find = Statement("agent_key_lookup")
USE_RECORDED_EVERY = timedelta(minutes=5)


class AgentKey(NamedTuple):
    id: int
    workspace_id: int
    name: str
    masked: str
    scopes: tuple[Scope, ...]
    program_ids: tuple[int, ...] | None  # None: every program of the workspace
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None

    @property
    def actor(self) -> Actor:
        return Actor(AGENT_KEY, str(self.id), self.name)

    def is_live(self, at: datetime) -> bool:
        """Return whether the key is neither revoked nor expired."""
        return self.revoked_at is None and (self.expires_at is None or self.expires_at > at)

    def reaches(self, program_id: int | None) -> bool:
        """Return whether the key is for a program of its workspace."""
        return self.program_ids is None or program_id in self.program_ids


class Issued(NamedTuple):
    id: int
    secret: str  # shown once and never stored


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
    """Issue a key for the listed programs (none: all of the workspace). Raises NotFound, ValidationError."""
    workspaces.require_workspace(connection, workspace_id)
    if not scopes:
        raise errors.ValidationError.of("scope", "A key needs at least one scope")
    mine = select(programs.c.id).where(programs.c.workspace_id == workspace_id, programs.c.id.in_(program_ids))
    foreign = sorted(set(program_ids) - set(connection.execute(mine).scalars()))
    if foreign:
        wrong = [errors.FieldError("program", f"Workspace {workspace_id} has no program {n}") for n in foreign]
        raise errors.ValidationError(fields=wrong)
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


def authorize(
    connection: Connection, credential: str | None, *, scope: Scope | None, program_id: int | None, at: datetime
) -> AgentKey:
    """Return the presented agent key, if it may use `scope` on `program_id` (None: any scope, or no program)."""
    if credential is None:  # the API promises the order of these errors
        raise _invalid()
    if credential.startswith((keys.PROGRAM_PREFIX, keys.SESSION_PREFIX)):
        raise errors.WrongKeyType
    key_hash = keys.digest(credential)
    rows = _find(connection, [[key_hash, program_id]])
    if not rows:
        of_program = select(program_keys.c.program_id).where(program_keys.c.key_hash == key_hash)
        is_old_program_key = connection.execute(of_program).scalar() is not None  # from before the prefix existed
        raise errors.WrongKeyType if is_old_program_key else _invalid()
    key = of_row(rows[0])
    if not key.is_live(at):
        raise _invalid()
    if scope is not None and scope not in key.scopes:
        raise errors.InsufficientScope(required_scope=scope)
    if program_id is not None and not (key.reaches(program_id) and rows[0].reached == program_id):
        raise errors.ProgramNotAllowed
    return key


def touch(connection: Connection, agent_key_id: int, *, at: datetime) -> None:
    """Record that a key was used, unless a use in the last five minutes is already recorded."""
    used = agent_keys.c.last_used_at
    stale = or_(used.is_(None), used <= at - USE_RECORDED_EVERY)
    connection.execute(update(agent_keys).where(agent_keys.c.id == agent_key_id, stale).values(last_used_at=at))


def list_all(connection: Connection, *, workspace_id: int | None = None) -> list[AgentKey]:
    """Return every key in order of issue, including expired and revoked ones; only of `workspace_id` if it is given."""
    all_keys = select(agent_keys).order_by(agent_keys.c.id)
    mine = all_keys if workspace_id is None else all_keys.where(agent_keys.c.workspace_id == workspace_id)
    return [of_row(row) for row in connection.execute(mine)]


def revoke(connection: Connection, agent_key_id: int, *, at: datetime) -> datetime:
    """Revoke a key and return when it was (first) revoked. Raises NotFound."""
    this = agent_keys.c.id == agent_key_id
    first = func.coalesce(agent_keys.c.revoked_at, literal(at, agent_keys.c.revoked_at.type))
    ended = update(agent_keys).where(this).values(revoked_at=first)
    revoked_at = connection.execute(ended.returning(agent_keys.c.revoked_at)).scalar()
    return errors.required(revoked_at, errors.NotFound(f"There is no agent key {agent_key_id}."))


def once(
    connection: Connection, key_id: int, repeat: tuple[str, str], perform: Callable[[Connection], str], *, at: datetime
) -> tuple[str, bool]:
    """Return the JSON text of the first response to a key's request, and whether this is a repeat within 30 days."""
    idempotency_key, request_hash = repeat
    mine = [idempotent_answers.c.agent_key_id == key_id, idempotent_answers.c.idempotency_key == idempotency_key]
    first = connection.execute(select(idempotent_answers).where(*mine)).one_or_none()
    if first is not None and first.at > at - timedelta(days=RESPONSE_DAYS):
        if first.request_hash != request_hash:
            raise errors.IdempotencyKeyReused
        return first.body, True
    if first is not None:
        connection.execute(delete(idempotent_answers).where(*mine))
    # Concurrent repeats wait for this row. A rejected write takes it back.
    claim = {"agent_key_id": key_id, "idempotency_key": idempotency_key, "request_hash": request_hash, "at": at}
    connection.execute(insert(idempotent_answers).values(**claim, status=201, body=""))
    body = perform(connection)
    connection.execute(update(idempotent_answers).where(*mine).values(body=body))
    return body, False


def add_rejection(
    connection: Connection, credential: str | None, program_id: int, error: errors.ServiceError, *, at: datetime
) -> None:
    """Count a rejected call by its cause. Raises InvalidKey, WrongKeyType, ProgramNotAllowed."""
    key = authorize(connection, credential, scope=None, program_id=program_id, at=at)
    about = error.details.get("cap") or error.details.get("required_scope") or ""
    cause = {"program_id": program_id, "agent_key_id": key.id, "code": error.code, "about": about}
    first = insert_for(connection)(agent_rejections).values(**cause, calls=1, first_at=at, last_at=at)
    again = {"calls": agent_rejections.c.calls + 1, "last_at": at}
    connection.execute(first.on_conflict_do_update(index_elements=list(cause), set_=again))


def list_rejections(connection: Connection, program_id: int) -> Sequence[Any]:
    """Return the calls of each key by error code and its cap or scope (`about`), the last rejected first."""
    mine = select(agent_rejections).where(agent_rejections.c.program_id == program_id)
    return connection.execute(mine.order_by(agent_rejections.c.last_at.desc())).all()


def of_row(row: Any) -> AgentKey:
    """Read a key from a row of its table; timestamps may still be stored integers."""
    timestamps = (row.created_at, row.expires_at, row.revoked_at, row.last_used_at)
    return AgentKey(
        row.id,
        row.workspace_id,
        row.name,
        keys.mask(keys.AGENT_PREFIX, row.last4),
        tuple(Scope(scope) for scope in row.scopes.split()),
        tuple(int(program_id) for program_id in row.program_ids.split()) if row.program_ids else None,
        *(from_millis(at) if isinstance(at, int) else at for at in timestamps),
    )


def _invalid() -> errors.ServiceError:
    return errors.InvalidKey(
        "The agent key is missing, malformed, unknown, revoked or expired.",
        hint="Send Authorization: Bearer <agent key>. The service's operator issues agent keys.",
    )
