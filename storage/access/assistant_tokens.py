"""Tokens of connected assistants: a code or refresh token buys one new pair; using it twice revokes the assistant."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import Connection, and_, select, update

from storage.access import assistants
from storage.access.assistants import ACCESS, REFRESH, Assistant
from storage.access.workspaces import MemberStatus
from storage.rules import keys
from storage.rules.errors import InsufficientScope, InvalidKey, ProgramNotAllowed
from storage.rules.scope import READING, Scope
from storage.tables import assistant_tokens, members, programs, users
from storage.tables import assistants as granted

ACCESS_LIFETIME = timedelta(minutes=15)
REFRESH_LIFETIME = timedelta(days=30)


class Tokens(NamedTuple):
    """A new pair, shown once and never stored; `scopes` are those of the access token."""

    access: str
    refresh: str
    scopes: tuple[Scope, ...]


def get_grant(connection: Connection, token: str, kind: str, *, at: datetime) -> Any:
    """Return the row of a token, used or not; None if it is unknown, expired or revoked, or its member is suspended."""
    return connection.execute(_presented(token, kind, at)).one_or_none()


def exchange(
    connection: Connection, token: str, kind: str, *, client_id: str, scopes: Sequence[str] = READING, at: datetime
) -> Tokens | None:
    """Exchange a code or a refresh token, once, for a pair whose access token has those of its scopes that are named.

    Returns None for any other token; one that was used before ends the assistant (RFC 9700, 4.14.2).
    """
    mine = _presented(token, kind, at).where(granted.c.client_id == client_id)
    row = connection.execute(mine.with_for_update(of=[assistant_tokens, granted])).one_or_none()
    if row is None:
        return None
    if row.spent_at is not None:
        assistants.end(connection, row, f"assistant.{kind}_reuse", at=at)
        return None
    this = assistant_tokens.c.token_hash == row.token_hash
    connection.execute(update(assistant_tokens).where(this).values(spent_at=at))
    connection.execute(update(granted).where(granted.c.id == row.id).values(last_used_at=at))
    allowed = [scope for scope in row.scopes.split() if scope in scopes]
    access = assistants.add_token(connection, row.id, ACCESS, " ".join(allowed), until=at + ACCESS_LIFETIME)
    refresh = assistants.add_token(connection, row.id, REFRESH, row.scopes, until=at + REFRESH_LIFETIME)
    return Tokens(access, refresh, tuple(map(Scope, allowed)))


def revoke(connection: Connection, token: str, *, client_id: str, at: datetime) -> None:
    """End the assistant that owns a token (RFC 7009); an unknown token, or one of another client, is no error."""
    row = connection.execute(_presented(token, None, at).where(granted.c.client_id == client_id)).one_or_none()
    if row is not None:
        assistants.end(connection, row, "assistant.revoke", at=at)


def authorize(
    connection: Connection, token: str, *, resource: str, scope: Scope | None, program_id: int | None, at: datetime
) -> Assistant:
    """Return the assistant that presents an access token for `resource`, if it may use `scope` on `program_id`.

    Its scopes are the token's, its programs those that its workspace still has. Raises, in this order: InvalidKey (also
    for a token for another resource, and when the member is suspended); InsufficientScope; ProgramNotAllowed.
    """
    row = connection.execute(_presented(token, ACCESS, at).where(granted.c.resource == resource)).one_or_none()
    if row is None:
        raise InvalidKey("The access token is unknown, expired or revoked.", hint="Refresh it, or connect again.")
    assistant = assistants.of_row(row)
    existing = (programs.c.workspace_id == assistant.workspace_id, programs.c.id.in_(assistant.program_ids))
    reached = connection.execute(select(programs.c.id).where(*existing).order_by(programs.c.id)).scalars()
    assistant = assistant._replace(program_ids=tuple(reached))
    if scope is not None and scope not in assistant.scopes:
        raise InsufficientScope(required_scope=scope, granted_scopes=assistant.scopes)
    if program_id is not None and program_id not in assistant.program_ids:
        raise ProgramNotAllowed
    return assistant


def _presented(token: str, kind: str | None, at: datetime) -> Any:
    """Return the query for a token of an assistant whose member is active; `scopes` are the token's."""
    columns = [column for column in granted.c if column.name != "scopes"]
    member = and_(members.c.workspace_id == granted.c.workspace_id, members.c.user_id == granted.c.user_id)
    joined = (
        assistant_tokens.join(granted, granted.c.id == assistant_tokens.c.assistant_id)
        .join(members, and_(member, members.c.status == MemberStatus.ACTIVE))
        .join(users, users.c.id == granted.c.user_id)
    )
    mine = [assistant_tokens.c.token_hash == keys.digest(token), assistant_tokens.c.expires_at > at]
    mine += [] if kind is None else [assistant_tokens.c.kind == kind]
    known = (assistant_tokens.c.token_hash, assistant_tokens.c.scopes, assistant_tokens.c.spent_at, users.c.email)
    return select(*columns, *known).select_from(joined).where(*mine)
