"""Assistants that members connect to their programs, and how members disconnect them."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, and_, delete, insert, or_, select, update

from storage.access.sessions import Visitor
from storage.access.workspaces import MemberStatus, Role
from storage.engine import audit, ids
from storage.engine.audit import Actor, Change
from storage.engine.database import insert_for
from storage.rules import keys
from storage.rules.errors import FieldError, NotFound, ValidationError
from storage.rules.scope import Scope
from storage.tables import assistant_clients, assistant_tokens, assistants, members, programs, users

CODE, ACCESS, REFRESH = "code", "access", "refresh"
CODE_LIFETIME = timedelta(minutes=2)


class AssistantClient(NamedTuple):
    """A public client, registered (RFC 7591) or with a document at its id's URL; its `name` is untrusted text."""

    client_id: str
    name: str
    redirect_uris: tuple[str, ...]
    kept_at: datetime


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

    @property
    def is_documented(self) -> bool:
        """Whether the name comes from a document at the client's own https URL; otherwise it is only a claim."""
        return self.client_id.startswith("https://")


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

    @property
    def actor(self) -> Actor:
        return Actor("assistant", str(self.id), self.name)


def find_client(connection: Connection, client_id: str) -> AssistantClient | None:
    """Return a client, or None if it is unknown."""
    known = select(assistant_clients).where(assistant_clients.c.client_id == client_id)
    row: Any = connection.execute(known).one_or_none()
    return row and AssistantClient(row.client_id, row.name, tuple(row.redirect_uris.split("\n")), row.kept_at)


def save_client(connection: Connection, client: AssistantClient) -> None:
    """Save a client, replacing any earlier version of it."""
    values = {"name": client.name, "redirect_uris": "\n".join(client.redirect_uris), "kept_at": client.kept_at}
    new = insert_for(connection)(assistant_clients).values(client_id=client.client_id, **values)
    connection.execute(new.on_conflict_do_update(index_elements=["client_id"], set_=values))


def connect(
    connection: Connection, request: AuthorizationRequest, *, visitor: Visitor, program_ids: Sequence[int], at: datetime
) -> str:
    """Grant the request for a workspace's programs; return a code for 2 minutes. Raises ValidationError."""
    chosen = sorted(set(program_ids))
    workspace_id = _workspace_of(connection, chosen, visitor)
    assistant_id, code = ids.after(at, 1)[0], keys.generate(keys.CODE_PREFIX)
    scopes = " ".join(request.scopes)
    requested = {name: getattr(request, name) for name in ("client_id", "name", "host", "resource")}
    requested |= {"redirect_uri": request.redirect_uri, "code_challenge": request.code_challenge, "scopes": scopes}
    granted = {"id": assistant_id, "user_id": visitor.user_id, "workspace_id": workspace_id, "connected_at": at}
    connection.execute(insert(assistants).values(**requested, **granted, program_ids=" ".join(map(str, chosen))))
    token = {"token_hash": keys.digest(code), "assistant_id": assistant_id, "kind": CODE, "scopes": scopes}
    connection.execute(insert(assistant_tokens).values(**token, expires_at=at + CODE_LIFETIME))
    client = assistant_clients.c.client_id == request.client_id
    connection.execute(update(assistant_clients).where(client).values(used_at=at))
    entry = Change("assistant.connect", assistant_id, "scopes", None, list(request.scopes))
    for program_id in chosen:
        audit.write(connection, program_id, [entry], actor=visitor.actor, at=at)
    return code


def list_assistants(connection: Connection, visitor: Visitor, *, at: datetime) -> list[Assistant]:
    """Return the assistants that a visitor may see, newest first: their own, and all of workspaces that they own."""
    live = assistant_tokens.select().where(
        assistant_tokens.c.assistant_id == assistants.c.id,
        assistant_tokens.c.kind == REFRESH,
        assistant_tokens.c.expires_at > at,
    )
    rows = _all().where(_of(visitor), live.exists()).order_by(assistants.c.id.desc())
    return [of_row(row) for row in connection.execute(rows)]


def disconnect(connection: Connection, assistant_id: int, *, visitor: Visitor, at: datetime) -> None:
    """End one of the visitor's own assistants, or one of a workspace that they own. Raises NotFound."""
    row = connection.execute(_all().where(assistants.c.id == assistant_id, _of(visitor))).one_or_none()
    if row is None:
        raise NotFound("There is no such assistant.")
    end(connection, of_row(row), "assistant.disconnect", actor=visitor.actor, at=at)


def end(connection: Connection, assistant: Assistant, action: str, *, actor: Actor, at: datetime) -> None:
    """End an assistant and all its tokens, and write the reason to the audit log of each of its programs."""
    this = assistants.c.id == assistant.id
    connection.execute(select(assistants.c.id).where(this).with_for_update())  # no token is issued meanwhile
    connection.execute(delete(assistant_tokens).where(assistant_tokens.c.assistant_id == assistant.id))
    connection.execute(delete(assistants).where(this))
    for program_id in assistant.program_ids:
        audit.write(connection, program_id, [Change(action, assistant.id)], actor=actor, at=at)


def end_all(connection: Connection, user_id: int, *, actor: Actor, at: datetime) -> None:
    """End every assistant that a user connected."""
    for row in connection.execute(_all().where(assistants.c.user_id == user_id).order_by(assistants.c.id)).all():
        end(connection, of_row(row), "assistant.disconnect", actor=actor, at=at)


def within_workspace(connection: Connection, assistant: Assistant) -> Assistant:
    """Return the assistant with those of its programs that exist in its workspace."""
    theirs = and_(programs.c.workspace_id == assistant.workspace_id, programs.c.id.in_(assistant.program_ids))
    found = connection.execute(select(programs.c.id).where(theirs).order_by(programs.c.id))
    return assistant._replace(program_ids=tuple(found.scalars()))


def remove_program(connection: Connection, program_id: int, *, workspace_id: int, actor: Actor, at: datetime) -> None:
    """Take a deleted program out of each grant; an assistant that is left with none is disconnected."""
    granted = _all().where(assistants.c.workspace_id == workspace_id).order_by(assistants.c.id)
    for row in connection.execute(granted.with_for_update(of=assistants)).all():
        assistant = of_row(row)
        left = [each for each in assistant.program_ids if each != program_id]
        if left:
            this = update(assistants).where(assistants.c.id == assistant.id)
            connection.execute(this.values(program_ids=" ".join(map(str, left))))
        else:
            end(connection, assistant, "assistant.disconnect", actor=actor, at=at)


def of_row(row: Any) -> Assistant:
    """Read an assistant from a row of its table, with the e-mail address of its member."""
    return Assistant(
        row.id,
        row.name,
        row.host,
        row.workspace_id,
        row.email,
        tuple(Scope(scope) for scope in row.scopes.split()),
        tuple(int(program_id) for program_id in row.program_ids.split()),
        row.connected_at,
        row.last_used_at,
    )


def active() -> ColumnElement[bool]:
    """Return the condition that the member who connected an assistant is still active in its workspace."""
    return and_(
        members.c.workspace_id == assistants.c.workspace_id,
        members.c.user_id == assistants.c.user_id,
        members.c.status == MemberStatus.ACTIVE,
    )


def _all() -> Any:
    return select(assistants, users.c.email).join(users, users.c.id == assistants.c.user_id)


def _of(visitor: Visitor) -> ColumnElement[bool]:
    owned = [each.workspace_id for each in visitor.memberships if each.role == Role.OWNER]
    return or_(assistants.c.user_id == visitor.user_id, assistants.c.workspace_id.in_(owned))


def _workspace_of(connection: Connection, program_ids: Sequence[int], visitor: Visitor) -> int:
    reach = [each.workspace_id for each in visitor.memberships]
    mine = (programs.c.id.in_(program_ids), programs.c.workspace_id.in_(reach))
    rows = connection.execute(select(programs.c.id, programs.c.workspace_id).where(*mine)).all()
    if not program_ids or len(rows) < len(program_ids):
        raise ValidationError(fields=[FieldError("program", "Choose at least one of your programs")])
    workspaces = {row.workspace_id for row in rows}
    if len(workspaces) > 1:
        raise ValidationError(fields=[FieldError("program", "Choose programs of one workspace; connect once for each")])
    return workspaces.pop()
