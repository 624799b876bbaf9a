"""Workspaces and their members, and what the role of each lets them do."""

from collections.abc import Collection
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, delete, insert, or_, select

from storage.rules.errors import FieldError, NotFound, OwnerRequired, ValidationError
from storage.tables import invitations, members, password_resets, users, workspaces

EXISTS = "This address has an account with another password, and whoever chose that one would get in"
EXISTS_HINT = "Set its password first (svc admin member set-password), or take it as it is: --existing-account."


class Role(StrEnum):
    """What a member may do: an owner everything, a manager run the program, finance decide and pay, a member read."""

    OWNER = "owner"
    MANAGER = "manager"
    FINANCE = "finance"
    MEMBER = "member"


ANYONE = frozenset(Role)
OWNERS = frozenset({Role.OWNER})  # settings, keys, members
MANAGERS = OWNERS | {Role.MANAGER}  # partners, flags, imports
DECIDERS = MANAGERS | {Role.FINANCE}  # commissions, credits by hand
PAYERS = OWNERS | {Role.FINANCE}  # what is paid


def require(role: Role, roles: Collection[Role]) -> None:
    """Raise OwnerRequired for a member whose role is none of these."""
    if role not in roles:
        others = [each for each in Role if each in roles and each != Role.OWNER]
        also = f" or a member with the role {' or '.join(others)}" if others else ""
        raise OwnerRequired(f"Only an owner of the workspace{also} may do this.")


class MemberStatus(StrEnum):
    """A suspended member loses access at their next request."""

    ACTIVE = "active"
    SUSPENDED = "suspended"


def exist(connection: Connection) -> bool:
    """Return whether there is any workspace: without one, the service is not set up."""
    return connection.execute(select(workspaces.c.id).limit(1)).scalar() is not None


def owns_all(connection: Connection, user_id: int) -> bool:
    """Return whether a user owns every workspace of this server, and so may change what they share."""
    others = select(workspaces.c.id).where(workspaces.c.id.not_in(owned_by(user_id)))
    return connection.execute(others.limit(1)).scalar() is None


def owned_by(user_id: int | ColumnElement[int | None]) -> Select[tuple[int]]:
    """Return the query of the workspaces of which a user is an active owner."""
    active = (members.c.role == Role.OWNER, members.c.status == MemberStatus.ACTIVE)
    return select(members.c.workspace_id).where(members.c.user_id == user_id, *active)


def create(connection: Connection, /, name: str, *, owner_email: str, at: datetime, **account: Any) -> tuple[int, int]:
    """Create a workspace with its owner, an `account` as `add_member` takes it; return the ids of both."""
    created = connection.execute(insert(workspaces).values(name=name, created_at=at).returning(workspaces.c.id))
    workspace_id = created.scalar_one()
    user_id = add_member(connection, workspace_id, email=owner_email, role=Role.OWNER, at=at, **account)
    return workspace_id, user_id


def add_member(
    connection: Connection,
    workspace_id: int,
    *,
    email: str,
    role: Role,
    password_hash: str,
    takes_existing: bool = False,
    at: datetime,
) -> int:
    """Add a member and return their user id; an existing account keeps its password, and its reset links end.

    Whoever knows that password gets in, and no e-mail may have proved that it is the address's holder. So an account
    with another hash than this one is taken only if the caller says that it `takes_existing` ones.
    Raises NotFound, and ValidationError for who is a member already.
    """
    require_workspace(connection, workspace_id)
    email = email.strip().lower()
    known: Any = connection.execute(select(users).where(users.c.email == email)).one_or_none()
    if known is None:
        row = {"email": email, "password_hash": password_hash, "created_at": at}
        user_id = connection.execute(insert(users).values(**row).returning(users.c.id)).scalar_one()
    elif takes_existing or known.password_hash == password_hash:
        user_id = known.id
    else:
        raise ValidationError(fields=[FieldError("email", EXISTS)], hint=EXISTS_HINT)
    mine = (members.c.workspace_id == workspace_id, members.c.user_id == user_id)
    if connection.execute(select(members.c.role).where(*mine).with_for_update()).scalar() is not None:
        raise ValidationError.of("email", "This account is a member of the workspace already")
    row = {"workspace_id": workspace_id, "user_id": user_id, "role": role, "created_at": at}
    connection.execute(insert(members).values(**row, status=MemberStatus.ACTIVE))
    end_links(connection, workspace_id, user_id)
    return user_id


def require_workspace(connection: Connection, workspace_id: int) -> None:
    """Raise NotFound if there is no such workspace."""
    if connection.execute(select(workspaces.c.id).where(workspaces.c.id == workspace_id)).scalar() is None:
        raise NotFound(f"There is no workspace {workspace_id}.", hint="Create one with `svc admin workspace create`.")


def end_links(connection: Connection, workspace_id: int, user_id: int) -> None:
    """End the links that a changed membership concerns: for the account, and those that they created here."""
    reset, invitation = password_resets.c, invitations.c
    in_workspace = select(members.c.user_id).where(members.c.workspace_id == workspace_id)
    given = (reset.created_by == user_id) & reset.user_id.in_(in_workspace)
    connection.execute(delete(password_resets).where(or_(reset.user_id == user_id, given)))
    invited = (invitation.workspace_id == workspace_id, invitation.created_by == user_id)
    connection.execute(delete(invitations).where(*invited))
