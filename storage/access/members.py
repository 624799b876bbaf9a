"""The members of a workspace: their roles, suspension and removal. A workspace always keeps an active owner."""

from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, delete, select, update

from storage.access import sessions
from storage.access.workspaces import MemberStatus, Role, end_links
from storage.engine import audit
from storage.engine.audit import Actor, Change
from storage.rules.errors import LastOwner, NotFound
from storage.tables import assistant_tokens, assistants, members, programs, users


class MemberRecord(NamedTuple):
    """A member: who they are, what they may do, and since when.

    `is_email_proven` says whether a link that only their mailbox received set the account's password.
    """

    user_id: int
    email: str
    role: Role
    status: MemberStatus
    created_at: datetime
    name: str | None
    is_email_proven: bool


def list_members(connection: Connection, workspace_id: int, *who: ColumnElement[bool]) -> list[MemberRecord]:
    """Return a workspace's members, suspended ones included: owners first, then in the order of joining."""
    columns = (users.c.id, users.c.email, members.c.role, members.c.status, members.c.created_at, users.c.name)
    mine = select(*columns, users.c.email_proven_at).join(members, members.c.user_id == users.c.id)
    mine = mine.where(members.c.workspace_id == workspace_id, *who)
    ordered = mine.order_by((members.c.role == Role.OWNER).desc(), members.c.created_at, users.c.id)
    return [
        MemberRecord(user_id, email, Role(role), MemberStatus(status), created_at, name, proven_at is not None)
        for user_id, email, role, status, created_at, name, proven_at in connection.execute(ordered)
    ]


def get_member(connection: Connection, workspace_id: int, who: int | str) -> MemberRecord:
    """Return the member with a user id or an e-mail address. Raises NotFound."""
    is_named = users.c.id == who if isinstance(who, int) else users.c.email == who.strip().lower()
    for member in list_members(connection, workspace_id, is_named):
        return member
    raise NotFound(f"Workspace {workspace_id} has no such member.", hint="List the workspace's members.")


def change(
    connection: Connection,
    /,
    workspace_id: int,
    user_id: int,
    *,
    actor: Actor,
    at: datetime,
    **values: Role | MemberStatus,
) -> MemberRecord:
    """Change a member's `role` or `status`; a suspended member is signed out with their next request.

    The member's reset link ends, and so do the reset links and invitations that they created as an owner.
    Raises NotFound, and LastOwner if the workspace would be left without an active owner.
    """
    _lock_owners(connection, workspace_id)
    before = get_member(connection, workspace_id, user_id)
    connection.execute(update(members).where(*_is(workspace_id, user_id)).values(**values))
    _require_owner(connection, workspace_id)
    entries = audit.changed("member.change", user_id, before._asdict(), values)
    if entries:
        end_links(connection, workspace_id, user_id)
    write_audit(connection, workspace_id, entries, actor=actor, at=at)
    return get_member(connection, workspace_id, user_id)


def remove(connection: Connection, workspace_id: int, user_id: int, *, actor: Actor, at: datetime) -> None:
    """Remove a member, and disconnect the assistants that they connected to the workspace; the account stays.

    An account that is left in no workspace is signed out: who invites it again does not let old sessions in.
    The member's reset link ends, and so do the reset links and invitations that they created as an owner.
    Raises NotFound, and LastOwner if the workspace would be left without an active owner.
    """
    _lock_owners(connection, workspace_id)
    removed = get_member(connection, workspace_id, user_id)
    mine = (assistants.c.workspace_id == workspace_id, assistants.c.user_id == user_id)
    theirs = assistant_tokens.c.assistant_id.in_(select(assistants.c.id).where(*mine))
    connection.execute(delete(assistant_tokens).where(theirs))
    connection.execute(delete(assistants).where(*mine))
    connection.execute(delete(members).where(*_is(workspace_id, user_id)))
    end_links(connection, workspace_id, user_id)
    if connection.execute(select(members.c.user_id).where(members.c.user_id == user_id).limit(1)).scalar() is None:
        sessions.end_all(connection, user_id)
    _require_owner(connection, workspace_id)
    entries = [Change("member.remove", user_id, "email", removed.email)]
    write_audit(connection, workspace_id, entries, actor=actor, at=at)


def transfer_ownership(
    connection: Connection, workspace_id: int, user_id: int, *, owner_id: int, actor: Actor, at: datetime
) -> None:
    """Make an active member an owner in place of the owner who hands over, who becomes a member. Raises NotFound."""
    if get_member(connection, workspace_id, user_id).status != MemberStatus.ACTIVE:
        raise NotFound("There is no such active member.", hint="Reactivate the member first.")
    change(connection, workspace_id, user_id, role=Role.OWNER, actor=actor, at=at)
    if user_id != owner_id:
        change(connection, workspace_id, owner_id, role=Role.MEMBER, actor=actor, at=at)


def write_audit(
    connection: Connection, workspace_id: int, changes: list[Change], *, actor: Actor, at: datetime
) -> None:
    """Append entries to the log of each program of a workspace."""
    for program_id in connection.execute(
        select(programs.c.id).where(programs.c.workspace_id == workspace_id)
    ).scalars():
        audit.write(connection, program_id, changes, actor=actor, at=at)


def _lock_owners(connection: Connection, workspace_id: int) -> None:
    """Let one transaction at a time decide whether an owner is left."""
    owners = select(members.c.user_id).where(members.c.workspace_id == workspace_id, members.c.role == Role.OWNER)
    connection.execute(owners.order_by(members.c.user_id).with_for_update()).all()


def _require_owner(connection: Connection, workspace_id: int) -> None:
    active = (members.c.role == Role.OWNER, members.c.status == MemberStatus.ACTIVE)
    mine = select(members.c.user_id).where(members.c.workspace_id == workspace_id, *active)
    if connection.execute(mine.limit(1)).scalar() is None:
        raise LastOwner


def _is(workspace_id: int, user_id: int) -> tuple[Any, ...]:
    return members.c.workspace_id == workspace_id, members.c.user_id == user_id
