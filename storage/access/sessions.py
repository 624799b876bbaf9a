"""Sessions: who is signed in to the dashboard, and their role in a program. Only a token's hash is stored.

Members' sessions and partners' sessions of the portal are in tables of their own; `Sessions` says which ones.
"""

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Literal, NamedTuple

from sqlalchemy import ColumnElement, Connection, Table, and_, delete, func, insert, select, update

from storage.access.workspaces import ANYONE, PAYERS, MemberStatus, Role, require
from storage.engine.audit import Actor
from storage.engine.statements import read_statement
from storage.rules import keys
from storage.rules.errors import Forbidden, NotFound
from storage.tables import device_logins, members, sessions, users
from storage.tables.columns import Timestamp

LIFETIME = timedelta(days=14)
IDLE = timedelta(days=3)  # a session ends after so long without a request
USED_EVERY = timedelta(hours=1)  # how exactly the last request is known
ID_SIZE = 16
_ACTIVE = and_(members.c.user_id == users.c.id, members.c.status == MemberStatus.ACTIVE)
_MEMBERSHIPS = read_statement("session_memberships", expires_at=Timestamp, used_at=Timestamp)
Theme = Literal["system", "light", "dark"]  # as the device says, or always
TimeFormat = Literal["24", "12"]  # hours from 0 to 23, or twice from 1 to 12


class Account(NamedTuple):
    """A user who may sign in after their password is verified."""

    user_id: int
    email: str
    password_hash: str


class Started(NamedTuple):
    token: str  # shown once and never stored
    expires_at: datetime


class Sessions(NamedTuple):
    """The sessions of one user or partner, or the one that a token opens: the rows of a table."""

    table: Table
    mine: ColumnElement[bool]


class OpenSession(NamedTuple):
    """A session that has not ended. `id` names it; `client` is what its browser or device calls itself."""

    id: str
    client: str | None
    created_at: datetime
    expires_at: datetime
    is_current: bool


class Preferences(NamedTuple):
    """How a person sees the dashboard; other members see `name` beside the e-mail address."""

    name: str | None = None
    theme: Theme = "system"
    time_format: TimeFormat = "24"


class Membership(NamedTuple):
    """A workspace in which a user is an active member."""

    workspace_id: int
    name: str
    role: Role
    time_zone: str
    logo_version: str | None


class Visitor(NamedTuple):
    """A signed-in user, and the workspaces of which they are an active member: at least one; of a `program_id`, its."""

    user_id: int
    email: str
    expires_at: datetime
    memberships: list[Membership]
    preferences: Preferences
    used_at: datetime
    program_id: int | None = None

    @property
    def actor(self) -> Actor:
        may_pay = self.program_id is not None and self.role in PAYERS
        return Actor("user", str(self.user_id), self.email, may_pay=may_pay)

    @property
    def workspace(self) -> Membership:
        """The program's workspace; on other pages their first, whose time zone these have."""
        return self.memberships[0]

    @property
    def role(self) -> Role:
        return self.workspace.role

    @property
    def workspace_ids(self) -> list[int]:
        return [each.workspace_id for each in self.memberships]

    @property
    def owned(self) -> list[Membership]:
        return [each for each in self.memberships if each.role == Role.OWNER]

    def in_workspace(self, workspace_id: int, roles: Collection[Role] = ANYONE) -> "Visitor":
        """Return them as a member of one workspace with one of these roles. Raises Forbidden, OwnerRequired."""
        mine = [each for each in self.memberships if each.workspace_id == workspace_id]
        if not mine:
            raise Forbidden("You must be an active member of this workspace.")
        require(mine[0].role, roles)
        return self._replace(memberships=mine)


def account(connection: Connection, email: str) -> Account | None:
    """Return the account of an e-mail address, if it is an active member of any workspace."""
    joined = select(users.c.id, users.c.email, users.c.password_hash).join(members, _ACTIVE)
    row = connection.execute(joined.where(users.c.email == email.strip().lower()).limit(1)).one_or_none()
    return None if row is None else Account(*row)


def start(connection: Connection, user_id: int, *, client: str | None = None, at: datetime) -> Started:
    """Sign a user in for 14 days, or until 3 days unused; delete their expired sessions. `client` names the browser."""
    connection.execute(delete(sessions).where(sessions.c.user_id == user_id, sessions.c.expires_at <= at))
    token = keys.generate(keys.SESSION_PREFIX)
    row = {"token_hash": keys.digest(token), "user_id": user_id, "client": client and client[:255]}
    connection.execute(insert(sessions).values(**row, created_at=at, expires_at=at + LIFETIME))
    return Started(token, at + LIFETIME)


def of_user(user_id: int) -> Sessions:
    """Return all sessions of a member."""
    return Sessions(sessions, sessions.c.user_id == user_id)


def by_token(token_hash: str) -> Sessions:
    """Return the session of a token's hash."""
    return Sessions(sessions, sessions.c.token_hash == token_hash)


def use(connection: Connection, used: Sessions, *, at: datetime) -> None:
    """Note that a session is in use."""
    live = (used.mine, *_live(used.table, at))
    connection.execute(update(used.table).where(*live).values(used_at=at))


def end(connection: Connection, ended: Sessions) -> None:
    """Sign out by deleting the session; a missing one is no error."""
    connection.execute(delete(ended.table).where(ended.mine))


def list_open(connection: Connection, listed: Sessions, token_hash: str | None, *, at: datetime) -> list[OpenSession]:
    """Return the sessions of a user or partner, the newest first; `token_hash` is the session that asks."""
    row = listed.table.c
    named = (func.substr(row.token_hash, 1, ID_SIZE), row.client, row.created_at, row.expires_at)
    mine = select(*named, row.token_hash == (token_hash or "")).where(listed.mine, *_live(listed.table, at))
    return [OpenSession(*each) for each in connection.execute(mine.order_by(row.created_at.desc(), row.token_hash))]


def end_one(connection: Connection, of: Sessions, session_id: str) -> None:
    """End one of the sessions of a user or partner. Raises NotFound."""
    named = func.substr(of.table.c.token_hash, 1, ID_SIZE) == session_id
    if connection.execute(delete(of.table).where(of.mine, named)).rowcount == 0:
        raise NotFound("There is no such session.", hint="List the sessions again.")


def end_all(connection: Connection, user_id: int, *, but: str | None = None) -> int:
    """End a user's device logins and sessions, except the one with the token hash `but`; return how many sessions."""
    connection.execute(delete(device_logins).where(device_logins.c.user_id == user_id))
    others = (sessions.c.user_id == user_id, sessions.c.token_hash != (but or ""))
    return connection.execute(delete(sessions).where(*others)).rowcount


def identify(connection: Connection, token_hash: str, program_id: int | None = None, *, at: datetime) -> Visitor:
    """Return the signed-in user, of a program if one is named. Raises the same Forbidden whatever is missing."""
    named = {"token_hash": token_hash, "at": at, "idle_since": at - IDLE, "program_id": program_id or 0}
    rows = connection.execute(_MEMBERSHIPS, named).all()
    if not rows:
        raise Forbidden if program_id else Forbidden("You must be signed in.")
    row = rows[0]
    memberships = [
        Membership(each.workspace_id, each.name, Role(each.role), each.time_zone, each.logo_version) for each in rows
    ]
    preferences = Preferences(row.person, row.theme, row.time_format)
    return Visitor(row.id, row.email, row.expires_at, memberships, preferences, row.used_at, program_id)


def _live(table: Table, at: datetime) -> tuple[ColumnElement[bool], ...]:
    return table.c.expires_at > at, func.coalesce(table.c.used_at, table.c.created_at) > at - IDLE
