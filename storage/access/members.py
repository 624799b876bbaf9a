"""A workspace: its name, time zone and logo; its members, of whom one is always an active owner."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Boolean, Connection, delete, insert, select, update

from storage.access import assistants, sessions
from storage.access.workspaces import MemberStatus, Role, end_links
from storage.engine import audit
from storage.engine.audit import By, Change
from storage.engine.statements import read_statement
from storage.rules.errors import LastOwner, NotFound, ValidationError, required
from storage.tables import members, programs, workspace_logos, workspaces
from storage.tables.columns import Timestamp

_MEMBERS = read_statement("members", created_at=Timestamp, is_email_proven=Boolean)
LARGEST_LOGO = 48 * 1024
_SIGNATURES = {  # of the types that browsers draw: the first bytes, and those after the length of a RIFF file
    "image/png": (b"\x89PNG\r\n\x1a\n", b""),
    "image/jpeg": (b"\xff\xd8\xff", b""),
    "image/webp": (b"RIFF", b"WEBP"),
}
MEDIA_TYPES = tuple(_SIGNATURES)


class WorkspaceSettings(NamedTuple):
    """A workspace's name, the time zone of its pages, and the version of its logo, if it has one."""

    name: str
    time_zone: str
    logo_version: str | None


class Member(NamedTuple):
    """A member; `is_email_proven`: a link that only their mailbox received set the account's password."""

    user_id: int
    email: str
    role: Role
    status: MemberStatus
    created_at: datetime
    name: str | None
    is_email_proven: bool


def list_members(connection: Connection, workspace_id: int, *, user_id: int = 0, email: str = "") -> list[Member]:
    """Return a workspace's members, suspended ones too, owners first; only that of a user id or e-mail address."""
    rows = connection.execute(_MEMBERS, {"workspace_id": workspace_id, "user_id": user_id, "email": email})
    return [Member(*row)._replace(role=Role(row.role), status=MemberStatus(row.status)) for row in rows]


def get_member(connection: Connection, workspace_id: int, who: int | str) -> Member:
    """Return the member with a user id or an e-mail address. Raises NotFound."""
    named: Any = {"user_id": who} if isinstance(who, int) else {"email": who.strip().lower()}
    for member in list_members(connection, workspace_id, **named):
        return member
    raise NotFound(f"Workspace {workspace_id} has no such member.", hint="List the workspace's members.")


def change(connection: Connection, /, workspace_id: int, user_id: int, *, by: By, **values: str) -> Member:
    """Change a member's `role` or `status`, which ends their links as `end_links` does. Raises NotFound, LastOwner."""
    with _keeping_an_owner(connection, workspace_id):
        before = get_member(connection, workspace_id, user_id)
        after = {"role": before.role, "status": before.status, **values}
        connection.execute(update(members).where(*_is(workspace_id, user_id)).values(**after))
    entries = audit.changed("member.change", user_id, before._asdict(), values)
    if entries:
        end_links(connection, workspace_id, user_id)
    write_audit(connection, workspace_id, entries, by=by)
    return get_member(connection, workspace_id, user_id)


def remove(connection: Connection, workspace_id: int, user_id: int, *, by: By) -> None:
    """Remove a member, their assistants and their links; the account stays. Raises NotFound, LastOwner."""
    with _keeping_an_owner(connection, workspace_id):
        removed = get_member(connection, workspace_id, user_id)
        connection.execute(delete(members).where(*_is(workspace_id, user_id)))
    assistants.end_all(connection, user_id, workspace_id, by=by)
    end_links(connection, workspace_id, user_id)
    if connection.execute(select(members.c.user_id).where(members.c.user_id == user_id).limit(1)).scalar() is None:
        sessions.end_all(connection, user_id)  # who invites it again lets no old session in
    entries = [Change("member.remove", user_id, "email", removed.email)]
    write_audit(connection, workspace_id, entries, by=by)


def transfer_ownership(connection: Connection, workspace_id: int, user_id: int, *, by: By) -> None:
    """Make an active member an owner in place of the owner who hands over, who becomes a member. Raises NotFound."""
    if get_member(connection, workspace_id, user_id).status != MemberStatus.ACTIVE:
        raise NotFound("There is no such active member.", hint="Reactivate the member first.")
    change(connection, workspace_id, user_id, role=Role.OWNER, by=by)
    if by.actor.user_id not in {user_id, None}:
        change(connection, workspace_id, by.actor.user_id, role=Role.MEMBER, by=by)


def get_settings(connection: Connection, workspace_id: int) -> WorkspaceSettings:
    """Return a workspace's settings. Raises NotFound."""
    columns = (workspaces.c.name, workspaces.c.time_zone, workspaces.c.logo_version)
    row = connection.execute(select(*columns).where(workspaces.c.id == workspace_id)).one_or_none()
    return WorkspaceSettings(*required(row, NotFound(f"There is no workspace {workspace_id}.")))


def change_settings(connection: Connection, /, workspace_id: int, *, by: By, **chosen: str) -> WorkspaceSettings:
    """Change a workspace's `name`, its `time_zone` or both, and return its settings."""
    before = get_settings(connection, workspace_id)
    after = before._replace(**chosen)
    if after != before:
        connection.execute(update(workspaces).where(workspaces.c.id == workspace_id).values(**chosen))
    entries = audit.changed("workspace.change", workspace_id, before._asdict(), chosen)
    write_audit(connection, workspace_id, entries, by=by)
    return after


def set_logo(connection: Connection, workspace_id: int, image: bytes | None, *, by: By) -> WorkspaceSettings:
    """Replace a workspace's logo, None removes it. Raises ValidationError for what is no small image."""
    logo = {"media_type": _media_type(image), "content": image} if image is not None else {}
    version = hashlib.sha256(image).hexdigest()[:16] if image is not None else None
    connection.execute(delete(workspace_logos).where(workspace_logos.c.workspace_id == workspace_id))
    if logo:
        connection.execute(insert(workspace_logos).values(workspace_id=workspace_id, **logo))
    connection.execute(update(workspaces).where(workspaces.c.id == workspace_id).values(logo_version=version))
    write_audit(connection, workspace_id, [Change("workspace.logo", workspace_id)], by=by)
    return get_settings(connection, workspace_id)


def _media_type(image: bytes) -> str:
    if len(image) > LARGEST_LOGO:
        raise ValidationError.of("image", f"Choose an image of at most {LARGEST_LOGO // 1024} KB")
    for media_type, (start, further) in _SIGNATURES.items():
        if image.startswith(start) and image[8:].startswith(further):
            return media_type
    raise ValidationError.of("image", "Choose a PNG, JPEG or WebP image")


def get_logo(connection: Connection, workspace_id: int) -> Any:
    """Return the row of a workspace's logo. Raises NotFound."""
    mine = select(workspace_logos).where(workspace_logos.c.workspace_id == workspace_id)
    return required(connection.execute(mine).one_or_none(), NotFound("This workspace has no logo."))


def write_audit(connection: Connection, workspace_id: int, rows: list[Change], *, by: By) -> None:
    """Append entries to the log of each program of a workspace."""
    mine = select(programs.c.id).where(programs.c.workspace_id == workspace_id)
    for program_id in connection.execute(mine).scalars():
        audit.write(connection, program_id, rows, by=by)


@contextmanager
def _keeping_an_owner(connection: Connection, workspace_id: int) -> Iterator[None]:
    """Let one transaction at a time decide whether an active owner is left. Raises LastOwner."""
    owners = select(members.c.user_id).where(members.c.workspace_id == workspace_id, members.c.role == Role.OWNER)
    connection.execute(owners.order_by(members.c.user_id).with_for_update()).all()
    yield
    if connection.execute(owners.where(members.c.status == MemberStatus.ACTIVE).limit(1)).scalar() is None:
        raise LastOwner


def _is(workspace_id: int, user_id: int) -> tuple[Any, ...]:
    return members.c.workspace_id == workspace_id, members.c.user_id == user_id
