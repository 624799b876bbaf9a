"""Assistants that members connect to their programs; a code or refresh token used twice ends the assistant."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, and_, delete, exists, insert, or_, select, update

from storage.access import agent_keys
from storage.access.sessions import Visitor
from storage.access.workspaces import MemberStatus
from storage.engine import audit, ids
from storage.engine.audit import Actor, By, Change
from storage.engine.database import insert_for
from storage.rules import keys
from storage.rules.errors import InsufficientScope, InvalidKey, NotFound, ProgramNotAllowed, ValidationError, required
from storage.rules.scope import READING, Scope
from storage.tables import agent_keys as keys_table
from storage.tables import assistant_clients as clients
from storage.tables import assistant_tokens, assistants, members, programs, users

CODE, ACCESS, REFRESH = "code", "access", "refresh"
PREFIXES = {CODE: keys.CODE_PREFIX, ACCESS: keys.ACCESS_PREFIX, REFRESH: keys.REFRESH_PREFIX}
CODE_LIFETIME = timedelta(minutes=2)
ACCESS_LIFETIME = timedelta(minutes=15)
REFRESH_LIFETIME = timedelta(days=30)


class AuthorizationRequest(NamedTuple):
    """A valid authorization request (RFC 6749, 4.1.1; RFC 7636; RFC 8707)."""

    client_id: str
    name: str  # untrusted text: the client chose it
    host: str  # vouches for the name: it serves the client's own document, or else receives the response
    redirect_uri: str
    scopes: tuple[Scope, ...]
    resource: str
    code_challenge: str
    state: str | None = None


class Assistant(NamedTuple):
    """An assistant that a member connected. Its client chose its `name`, which is untrusted text.

    `host` vouches for it; `last_used_at` is when it last fetched a token: while in use, every 15 minutes.
    """

    id: int
    name: str
    host: str
    workspace_id: int
    email: str
    scopes: tuple[Scope, ...]
    program_ids: tuple[int, ...]
    connected_at: datetime
    last_used_at: datetime | None


class Tokens(NamedTuple):
    access: str
    refresh: str  # both are shown once and never stored
    scopes: tuple[Scope, ...]  # of the access token


def find_client(connection: Connection, client_id: str) -> Any:
    """Return the row of a public client; None if it is unknown. Its `redirect_uris` are lines, its `name` untrusted."""
    return connection.execute(select(clients).where(clients.c.client_id == client_id)).one_or_none()


def save_client(connection: Connection, client_id: str, name: str, redirect_uris: Sequence[str], at: datetime) -> None:
    """Save a client that registered (RFC 7591) or has a document at its id's URL, replacing any earlier version."""
    values = {"name": name, "redirect_uris": "\n".join(redirect_uris), "kept_at": at}
    new = insert_for(connection)(clients).values(client_id=client_id, **values)
    connection.execute(new.on_conflict_do_update(index_elements=["client_id"], set_=values))


def connect(
    connection: Connection, request: AuthorizationRequest, *, visitor: Visitor, program_ids: Sequence[int], at: datetime
) -> str:
    """Grant the request for a workspace's programs; return a code for 2 minutes. Raises ValidationError."""
    chosen = sorted(set(program_ids))
    mine = (programs.c.id.in_(chosen), programs.c.workspace_id.in_(visitor.workspace_ids))
    found = connection.execute(select(programs.c.workspace_id).where(*mine)).scalars().all()
    if not chosen or len(found) < len(chosen):
        raise ValidationError.of("program", "Choose at least one of your programs")
    workspace_id, *others = set(found)
    if others:
        raise ValidationError.of("program", "Choose programs of one workspace; connect once for each")
    assistant_id, scopes = ids.after(at, 1)[0], " ".join(request.scopes)
    requested = request._asdict() | {"scopes": scopes}
    del requested["state"]
    granted = {"id": assistant_id, "user_id": visitor.user_id, "workspace_id": workspace_id, "connected_at": at}
    connection.execute(insert(assistants).values(**requested, **granted, program_ids=" ".join(map(str, chosen))))
    connection.execute(update(clients).where(clients.c.client_id == request.client_id).values(used_at=at))
    entry = Change("assistant.connect", assistant_id, "scopes", None, list(request.scopes))
    for program_id in chosen:
        audit.write(connection, program_id, [entry], by=By(visitor.actor, at))
    return add_token(connection, assistant_id, CODE, scopes, until=at + CODE_LIFETIME)


def add_token(connection: Connection, assistant_id: int, kind: str, scopes: str, *, until: datetime) -> str:
    """Give an assistant a new token of a kind, which is stored as a hash, and return it."""
    token = keys.generate(PREFIXES[kind])
    row = {"token_hash": keys.digest(token), "assistant_id": assistant_id, "kind": kind, "scopes": scopes}
    connection.execute(insert(assistant_tokens).values(**row, expires_at=until))
    return token


def get_grant(connection: Connection, token: str, kind: str, *, at: datetime) -> Any:
    """Return the row of a token, used or not; None if it is unknown, expired or revoked, or its member is suspended."""
    return connection.execute(_presented(token, kind, at)).one_or_none()


def exchange(
    connection: Connection, token: str, kind: str, *, client_id: str, scopes: Sequence[str] = READING, at: datetime
) -> Tokens | None:
    """Exchange a code or refresh token, once, for a pair whose access token has the named scopes; None for another."""
    mine = _presented(token, kind, at).where(assistants.c.client_id == client_id)
    row = connection.execute(mine.with_for_update(of=[assistant_tokens, assistants])).one_or_none()
    if row is None:
        return None
    if row.spent_at is not None:  # RFC 9700, 4.14.2
        _end_itself(connection, row, f"assistant.{kind}_reuse", at=at)
        return None
    this = assistant_tokens.c.token_hash == row.token_hash
    connection.execute(update(assistant_tokens).where(this).values(spent_at=at))
    connection.execute(update(assistants).where(assistants.c.id == row.id).values(last_used_at=at))
    allowed = [scope for scope in row.scopes.split() if scope in scopes]
    access = add_token(connection, row.id, ACCESS, " ".join(allowed), until=at + ACCESS_LIFETIME)
    refresh = add_token(connection, row.id, REFRESH, row.scopes, until=at + REFRESH_LIFETIME)
    return Tokens(access, refresh, tuple(map(Scope, allowed)))


def revoke(connection: Connection, token: str, *, client_id: str, at: datetime) -> None:
    """End the assistant that owns a token (RFC 7009); an unknown token, or one of another client, is no error."""
    row = connection.execute(_presented(token, None, at).where(assistants.c.client_id == client_id)).one_or_none()
    if row is not None:
        _end_itself(connection, row, "assistant.revoke", at=at)


def authorize(
    connection: Connection, token: str, *, resource: str, scope: Scope | None, program_id: int | None, at: datetime
) -> Assistant:
    """Return the assistant that presents an access token for `resource`, if it may use `scope` on `program_id`."""
    row = connection.execute(_presented(token, ACCESS, at).where(assistants.c.resource == resource)).one_or_none()
    gone = InvalidKey("The access token is unknown, expired or revoked.", hint="Refresh it, or connect again.")
    assistant = of_row(required(row, gone))
    existing = (programs.c.workspace_id == assistant.workspace_id, programs.c.id.in_(assistant.program_ids))
    reached = connection.execute(select(programs.c.id).where(*existing).order_by(programs.c.id)).scalars()
    assistant = assistant._replace(program_ids=tuple(reached))  # those that its workspace still has
    if scope is not None and scope not in assistant.scopes:
        raise InsufficientScope(required_scope=scope, granted_scopes=assistant.scopes)
    if program_id is not None and program_id not in assistant.program_ids:
        raise ProgramNotAllowed
    return assistant


def list_assistants(connection: Connection, visitor: Visitor, *, at: datetime) -> list[Assistant]:
    """Return the assistants that a visitor may see, newest first: their own, and all of workspaces that they own."""
    token = assistant_tokens.c
    live = exists().where(token.assistant_id == assistants.c.id, token.kind == REFRESH, token.expires_at > at)
    shown = select(assistants, users.c.email).join(users, users.c.id == assistants.c.user_id)
    rows = connection.execute(shown.where(_of(visitor), live).order_by(assistants.c.id.desc()))
    return [of_row(row) for row in rows]


def disconnect(connection: Connection, assistant_id: int, *, visitor: Visitor, at: datetime) -> None:
    """End one of the visitor's own assistants, or one of a workspace that they own. Raises NotFound."""
    this = select(assistants).where(assistants.c.id == assistant_id, _of(visitor))
    row = required(connection.execute(this).one_or_none(), NotFound("There is no such assistant."))
    end(connection, row, "assistant.disconnect", by=By(visitor.actor, at))


def end(connection: Connection, row: Any, action: str, *, by: By) -> None:
    """End an assistant and all its tokens, and log the reason in each of its programs."""
    this = assistants.c.id == row.id
    connection.execute(select(assistants.c.id).where(this).with_for_update())  # no token is issued meanwhile
    connection.execute(delete(assistant_tokens).where(assistant_tokens.c.assistant_id == row.id))
    connection.execute(delete(assistants).where(this))
    for program_id in row.program_ids.split():
        audit.write(connection, int(program_id), [Change(action, row.id)], by=by)


def _end_itself(connection: Connection, row: Any, action: str, *, at: datetime) -> None:
    end(connection, row, action, by=By(Actor("assistant", str(row.id), row.name), at))


def end_all(connection: Connection, user_id: int, workspace_id: int | None, *, by: By) -> None:
    """End every assistant that a user connected, or those of one workspace."""
    mine = select(assistants).where(assistants.c.user_id == user_id).order_by(assistants.c.id)
    for row in connection.execute(mine).all():
        if workspace_id in {None, row.workspace_id}:
            end(connection, row, "assistant.disconnect", by=by)


def remove_program(connection: Connection, program_id: int, *, workspace_id: int, by: By) -> None:
    """Take a deleted program out of each agent key and assistant that names it; one that is left with none ends."""
    for table in (keys_table, assistants):
        named = select(table).where(table.c.workspace_id == workspace_id, table.c.program_ids.is_not(None))
        for row in connection.execute(named.order_by(table.c.id).with_for_update()).all():
            left = [each for each in row.program_ids.split() if int(each) != program_id]
            if left:
                connection.execute(update(table).where(table.c.id == row.id).values(program_ids=" ".join(left)))
            elif table is assistants:
                end(connection, row, "assistant.disconnect", by=by)
            else:
                agent_keys.revoke(connection, row.id, at=by.at)


def of_row(row: Any) -> Assistant:
    """Read an assistant from a row of its table, with the e-mail address of its member."""
    values = {name: getattr(row, name) for name in Assistant._fields}
    values["scopes"] = tuple(map(Scope, row.scopes.split()))
    values["program_ids"] = tuple(map(int, row.program_ids.split()))
    return Assistant(**values)


def _of(visitor: Visitor) -> ColumnElement[bool]:
    owned = [each.workspace_id for each in visitor.owned]
    return or_(assistants.c.user_id == visitor.user_id, assistants.c.workspace_id.in_(owned))


def _presented(token: str, kind: str | None, at: datetime) -> Any:
    """Return the query for a token of an assistant whose member is active; `scopes` are the token's."""
    columns = [column for column in assistants.c if column.name != "scopes"]
    member = and_(members.c.workspace_id == assistants.c.workspace_id, members.c.user_id == assistants.c.user_id)
    joined = (
        assistant_tokens.join(assistants, assistants.c.id == assistant_tokens.c.assistant_id)
        .join(members, and_(member, members.c.status == MemberStatus.ACTIVE))
        .join(users, users.c.id == assistants.c.user_id)
    )
    mine = [assistant_tokens.c.token_hash == keys.digest(token), assistant_tokens.c.expires_at > at]
    mine += [] if kind is None else [assistant_tokens.c.kind == kind]
    known = (assistant_tokens.c.token_hash, assistant_tokens.c.scopes, assistant_tokens.c.spent_at, users.c.email)
    return select(*columns, *known).select_from(joined).where(*mine)
