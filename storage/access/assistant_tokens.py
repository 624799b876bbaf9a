"""Tokens of connected assistants: a code or refresh token buys one new pair; using it twice revokes the assistant."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import Connection, insert, select, update

from storage.access import assistants
from storage.access.assistants import ACCESS, CODE, REFRESH, Assistant
from storage.rules import keys
from storage.rules.errors import InsufficientScope, InvalidKey, ProgramNotAllowed
from storage.rules.scope import Scope
from storage.tables import assistant_tokens, members, users
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


def exchange(connection: Connection, code: str, *, client_id: str, at: datetime) -> Tokens | None:
    """Exchange a code for the first pair, once. Returns None if it is rejected; a reused code ends the assistant."""
    row = _spend(connection, code, CODE, client_id, at)
    return row and _issue(connection, row, _scopes(row.scopes), at)


def refresh(
    connection: Connection, token: str, *, client_id: str, scopes: Sequence[str], at: datetime
) -> Tokens | None:
    """Exchange a token for the next pair once, else return None; a reused one ends the assistant (RFC 9700, 4.14.2)."""
    row = _spend(connection, token, REFRESH, client_id, at)
    return row and _issue(connection, row, tuple(scope for scope in _scopes(row.scopes) if scope in scopes), at)


def revoke(connection: Connection, token: str, *, client_id: str, at: datetime) -> None:
    """End the assistant that owns a token (RFC 7009); an unknown token, or one of another client, is no error."""
    row = connection.execute(_presented(token, None, at).where(granted.c.client_id == client_id)).one_or_none()
    if row is not None:
        assistant = assistants.of_row(row)
        assistants.end(connection, assistant, "assistant.revoke", actor=assistant.actor, at=at)


def authorize(
    connection: Connection, token: str, *, resource: str, scope: Scope | None, program_id: int | None, at: datetime
) -> Assistant:
    """Return the assistant that presents an access token for `resource`, if it may use `scope` on `program_id`.

    Its scopes are the token's. Raises, in this order: InvalidKey (also for a token for another resource, and when the
    member is suspended); InsufficientScope; ProgramNotAllowed.
    """
    row = connection.execute(_presented(token, ACCESS, at).where(granted.c.resource == resource)).one_or_none()
    if row is None:
        raise InvalidKey("The access token is unknown, expired or revoked.", hint="Refresh it, or connect again.")
    assistant = assistants.within_workspace(connection, assistants.of_row(row))
    if scope is not None and scope not in assistant.scopes:
        raise InsufficientScope(required_scope=scope, granted_scopes=assistant.scopes)
    if program_id is not None and program_id not in assistant.program_ids:
        raise ProgramNotAllowed
    return assistant


def _presented(token: str, kind: str | None, at: datetime) -> Any:
    """Return the query for a token of an assistant whose member is active; `scopes` are the token's."""
    columns = [column for column in granted.c if column.name != "scopes"]
    joined = (
        assistant_tokens.join(granted, granted.c.id == assistant_tokens.c.assistant_id)
        .join(members, assistants.active())
        .join(users, users.c.id == granted.c.user_id)
    )
    mine = [assistant_tokens.c.token_hash == keys.digest(token), assistant_tokens.c.expires_at > at]
    mine += [] if kind is None else [assistant_tokens.c.kind == kind]
    known = (assistant_tokens.c.token_hash, assistant_tokens.c.scopes, assistant_tokens.c.spent_at, users.c.email)
    return select(*columns, *known).select_from(joined).where(*mine)


def _spend(connection: Connection, token: str, kind: str, client_id: str, at: datetime) -> Any:
    """Mark an unused one-time token as used and return its row; None for any other token."""
    mine = _presented(token, kind, at).where(granted.c.client_id == client_id)
    row = connection.execute(mine.with_for_update(of=[assistant_tokens, granted])).one_or_none()
    if row is not None and row.spent_at is not None:
        assistant = assistants.of_row(row)
        assistants.end(connection, assistant, f"assistant.{kind}_reuse", actor=assistant.actor, at=at)
        row = None
    elif row is not None:
        this = assistant_tokens.c.token_hash == row.token_hash
        connection.execute(update(assistant_tokens).where(this).values(spent_at=at))
    return row


def _issue(connection: Connection, row: Any, scopes: tuple[Scope, ...], at: datetime) -> Tokens:
    tokens = Tokens(keys.generate(keys.ACCESS_PREFIX), keys.generate(keys.REFRESH_PREFIX), scopes)
    pair = (
        (tokens.access, ACCESS, " ".join(scopes), ACCESS_LIFETIME),
        (tokens.refresh, REFRESH, row.scopes, REFRESH_LIFETIME),
    )
    for token, kind, allowed, lifetime in pair:
        values = {"token_hash": keys.digest(token), "assistant_id": row.id, "kind": kind, "scopes": allowed}
        connection.execute(insert(assistant_tokens).values(**values, expires_at=at + lifetime))
    connection.execute(update(granted).where(granted.c.id == row.id).values(last_used_at=at))
    return tokens


def _scopes(stored: str) -> tuple[Scope, ...]:
    return tuple(Scope(scope) for scope in stored.split())
