"""Dashboard sessions: who is signed in, and what they are to a program. A token is stored as its hash alone."""

from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, and_, delete, insert, select

from storage.access.workspaces import MemberStatus, Role
from storage.engine.audit import Actor
from storage.rules import keys
from storage.rules.errors import Forbidden, OwnerRequired
from storage.tables import members, programs, sessions, users, workspaces

LIFETIME = timedelta(days=14)


class Account(NamedTuple):
    """Somebody who may sign in once their password is verified."""

    user_id: int
    email: str
    password_hash: str


class Started(NamedTuple):
    """A fresh session: `token` is shown once and stored nowhere."""

    token: str
    expires_at: datetime


class Membership(NamedTuple):
    """A workspace that somebody is an active member of."""

    workspace_id: int
    name: str
    role: Role


class Visitor(NamedTuple):
    """Somebody who is signed in, with the workspaces that they are an active member of: at least one."""

    user_id: int
    email: str
    expires_at: datetime
    memberships: list[Membership]

    @property
    def actor(self) -> Actor:
        """Who they are in the audit log."""
        return Actor("user", str(self.user_id), self.email)


class Member(NamedTuple):
    """An active member of a program's workspace, who is signed in."""

    user_id: int
    email: str
    workspace_id: int
    program_id: int
    role: Role

    @property
    def actor(self) -> Actor:
        """Who they are in the audit log."""
        return Actor("user", str(self.user_id), self.email)

    def require_owner(self) -> None:
        """Raise OwnerRequired for a member who is no owner."""
        if self.role != Role.OWNER:
            raise OwnerRequired


def account(connection: Connection, email: str) -> Account | None:
    """Return the account of an e-mail address, if it is an active member of any workspace."""
    mine = _active(users.c.id)
    found = select(users.c.id, users.c.email, users.c.password_hash).join(members, mine)
    row = connection.execute(found.where(users.c.email == email.strip().lower()).limit(1)).one_or_none()
    return None if row is None else Account(*row)


def start(connection: Connection, user_id: int, *, at: datetime) -> Started:
    """Sign a user in for 14 days, and forget their sessions that have ended."""
    ended = and_(sessions.c.user_id == user_id, sessions.c.expires_at <= at)
    connection.execute(delete(sessions).where(ended))
    token = keys.generate(keys.SESSION_PREFIX)
    row = {"token_hash": keys.digest(token), "user_id": user_id, "created_at": at, "expires_at": at + LIFETIME}
    connection.execute(insert(sessions).values(**row))
    return Started(token, at + LIFETIME)


def end(connection: Connection, token_hash: str) -> None:
    """Sign out: the session is gone; one that is no more is no error."""
    connection.execute(delete(sessions).where(sessions.c.token_hash == token_hash))


def prune(connection: Connection, *, at: datetime) -> int:
    """Forget the sessions that have ended; return how many."""
    return connection.execute(delete(sessions).where(sessions.c.expires_at <= at)).rowcount


def identify(connection: Connection, token_hash: str, *, at: datetime) -> Visitor:
    """Return who is signed in. Raises Forbidden for no live session, or nobody's active member."""
    live = (sessions.c.token_hash == token_hash, sessions.c.expires_at > at)
    columns = (users.c.id, users.c.email, sessions.c.expires_at, workspaces.c.name, members.c.workspace_id)
    found = (
        sessions.join(users, users.c.id == sessions.c.user_id)
        .join(members, _active(users.c.id))
        .join(workspaces, workspaces.c.id == members.c.workspace_id)
    )
    mine = select(*columns, members.c.role).select_from(found).where(*live).order_by(members.c.workspace_id)
    rows = connection.execute(mine).all()
    if not rows:
        raise Forbidden("You must be signed in.")
    memberships = [Membership(row.workspace_id, row.name, Role(row.role)) for row in rows]
    return Visitor(rows[0].id, rows[0].email, rows[0].expires_at, memberships)


def member(connection: Connection, token_hash: str, program_id: int, *, at: datetime) -> Member:
    """Return who is signed in, as a member of the program's workspace.

    Raises Forbidden alike for no live session, nobody's active member, and no such program.
    """
    live = (sessions.c.token_hash == token_hash, sessions.c.expires_at > at)
    found = (
        sessions.join(users, users.c.id == sessions.c.user_id)
        .join(members, _active(users.c.id))
        .join(programs, programs.c.workspace_id == members.c.workspace_id)
    )
    columns = (users.c.id, users.c.email, members.c.workspace_id, programs.c.id.label("program_id"), members.c.role)
    mine = select(*columns).select_from(found).where(*live, programs.c.id == program_id)
    row: Any = connection.execute(mine).one_or_none()
    if row is None:
        raise Forbidden
    return Member(row.id, row.email, row.workspace_id, row.program_id, Role(row.role))


def _active(user_id: ColumnElement[int]) -> ColumnElement[bool]:
    return and_(members.c.user_id == user_id, members.c.status == MemberStatus.ACTIVE)
