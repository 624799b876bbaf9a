"""Assistants that members connect to their programs, and how members disconnect them."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, delete, insert, or_, select, update

from storage.access import agent_keys
from storage.access.sessions import Visitor
from storage.engine import audit, ids
from storage.engine.audit import Actor, Change
from storage.engine.database import insert_for
from storage.rules import keys
from storage.rules.errors import FieldError, NotFound, ValidationError
from storage.rules.scope import Scope
from storage.tables import agent_keys as keys_table
from storage.tables import assistant_clients as clients
from storage.tables import assistant_tokens, assistants, programs, users

CODE, ACCESS, REFRESH = "code", "access", "refresh"
PREFIXES = {CODE: keys.CODE_PREFIX, ACCESS: keys.ACCESS_PREFIX, REFRESH: keys.REFRESH_PREFIX}
CODE_LIFETIME = timedelta(minutes=2)


class AuthorizationRequest(NamedTuple):
    """A valid request (RFC 6749, 4.1.1; RFC 7636; RFC 8707). The client chose its `name`, which is untrusted text.

    `host` vouches for the name: it serves the client's own document, or else receives the response.
    """

    client_id: str
    name: str
    host: str
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
        raise ValidationError(fields=[FieldError("program", "Choose at least one of your programs")])
    workspace_id, *others = set(found)
    if others:
        raise ValidationError(fields=[FieldError("program", "Choose programs of one workspace; connect once for each")])
    assistant_id, scopes = ids.after(at, 1)[0], " ".join(request.scopes)
    requested = request._asdict() | {"scopes": scopes}
    del requested["state"]
    granted = {"id": assistant_id, "user_id": visitor.user_id, "workspace_id": workspace_id, "connected_at": at}
    connection.execute(insert(assistants).values(**requested, **granted, program_ids=" ".join(map(str, chosen))))
    connection.execute(update(clients).where(clients.c.client_id == request.client_id).values(used_at=at))
    entry = Change("assistant.connect", assistant_id, "scopes", None, list(request.scopes))
    for program_id in chosen:
        audit.write(connection, program_id, [entry], actor=visitor.actor, at=at)
    return add_token(connection, assistant_id, CODE, scopes, until=at + CODE_LIFETIME)


def add_token(connection: Connection, assistant_id: int, kind: str, scopes: str, *, until: datetime) -> str:
    """Give an assistant a new token of a kind, which is stored as a hash, and return it."""
    token = keys.generate(PREFIXES[kind])
    row = {"token_hash": keys.digest(token), "assistant_id": assistant_id, "kind": kind, "scopes": scopes}
    connection.execute(insert(assistant_tokens).values(**row, expires_at=until))
    return token


def list_assistants(connection: Connection, visitor: Visitor, *, at: datetime) -> list[Assistant]:
    """Return the assistants that a visitor may see, newest first: their own, and all of workspaces that they own."""
    live = assistant_tokens.select().where(
        assistant_tokens.c.assistant_id == assistants.c.id,
        assistant_tokens.c.kind == REFRESH,
        assistant_tokens.c.expires_at > at,
    )
    shown = select(assistants, users.c.email).join(users, users.c.id == assistants.c.user_id)
    rows = connection.execute(shown.where(_of(visitor), live.exists()).order_by(assistants.c.id.desc()))
    return [of_row(row) for row in rows]


def disconnect(connection: Connection, assistant_id: int, *, visitor: Visitor, at: datetime) -> None:
    """End one of the visitor's own assistants, or one of a workspace that they own. Raises NotFound."""
    this = select(assistants).where(assistants.c.id == assistant_id, _of(visitor))
    if (row := connection.execute(this).one_or_none()) is None:
        raise NotFound("There is no such assistant.")
    end(connection, row, "assistant.disconnect", actor=visitor.actor, at=at)


def end(connection: Connection, row: Any, action: str, *, actor: Actor | None = None, at: datetime) -> None:
    """End an assistant and all its tokens, and log the reason in each of its programs; its own act if no actor's."""
    this = assistants.c.id == row.id
    connection.execute(select(assistants.c.id).where(this).with_for_update())  # no token is issued meanwhile
    connection.execute(delete(assistant_tokens).where(assistant_tokens.c.assistant_id == row.id))
    connection.execute(delete(assistants).where(this))
    actor = actor or Actor("assistant", str(row.id), row.name)
    for program_id in row.program_ids.split():
        audit.write(connection, int(program_id), [Change(action, row.id)], actor=actor, at=at)


def end_all(
    connection: Connection, user_id: int, workspace_id: int | None = None, *, actor: Actor, at: datetime
) -> None:
    """End every assistant that a user connected, or those of one workspace."""
    mine = select(assistants).where(assistants.c.user_id == user_id).order_by(assistants.c.id)
    for row in connection.execute(mine).all():
        if workspace_id in {None, row.workspace_id}:
            end(connection, row, "assistant.disconnect", actor=actor, at=at)


def remove_program(connection: Connection, program_id: int, *, workspace_id: int, actor: Actor, at: datetime) -> None:
    """Take a deleted program out of each agent key and assistant that names it; one that is left with none ends."""
    for table in (keys_table, assistants):
        named = select(table).where(table.c.workspace_id == workspace_id, table.c.program_ids.is_not(None))
        for row in connection.execute(named.order_by(table.c.id).with_for_update()).all():
            left = [each for each in row.program_ids.split() if int(each) != program_id]
            if left:
                connection.execute(update(table).where(table.c.id == row.id).values(program_ids=" ".join(left)))
            elif table is assistants:
                end(connection, row, "assistant.disconnect", actor=actor, at=at)
            else:
                agent_keys.revoke(connection, row.id, at=at)


def of_row(row: Any) -> Assistant:
    """Read an assistant from a row of its table, with the e-mail address of its member."""
    values = {name: getattr(row, name) for name in Assistant._fields}
    values["scopes"] = tuple(map(Scope, row.scopes.split()))
    values["program_ids"] = tuple(map(int, row.program_ids.split()))
    return Assistant(**values)


def _of(visitor: Visitor) -> ColumnElement[bool]:
    owned = [each.workspace_id for each in visitor.owned]
    return or_(assistants.c.user_id == visitor.user_id, assistants.c.workspace_id.in_(owned))
