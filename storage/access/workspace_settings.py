"""What the owners of a workspace choose: its name, its time zone and its logo, a small image without scripts."""

import hashlib
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection, delete, insert, select, update

from storage.access import members
from storage.engine import audit
from storage.engine.audit import Actor, Change
from storage.rules.errors import FieldError, NotFound, ValidationError
from storage.tables import workspace_logos, workspaces

LARGEST = 48 * 1024
TOO_LARGE = f"Choose an image of at most {LARGEST // 1024} KB"
_SIGNATURES = {  # of the types that browsers draw: the first bytes, and those after the length of a RIFF file
    "image/png": (b"\x89PNG\r\n\x1a\n", b""),
    "image/jpeg": (b"\xff\xd8\xff", b""),
    "image/webp": (b"RIFF", b"WEBP"),
}
MEDIA_TYPES = tuple(_SIGNATURES)


class Image(NamedTuple):
    """An image of one of MEDIA_TYPES."""

    media_type: str
    content: bytes


class WorkspaceSettings(NamedTuple):
    """A workspace's name, the time zone of its pages, and the version of its logo, if it has one."""

    name: str
    time_zone: str
    logo_version: str | None


def get_settings(connection: Connection, workspace_id: int) -> WorkspaceSettings:
    """Return a workspace's settings. Raises NotFound."""
    columns = (workspaces.c.name, workspaces.c.time_zone, workspaces.c.logo_version)
    row = connection.execute(select(*columns).where(workspaces.c.id == workspace_id)).one_or_none()
    if row is None:
        raise NotFound(f"There is no workspace {workspace_id}.")
    return WorkspaceSettings(*row)


def change(
    connection: Connection, /, workspace_id: int, *, actor: Actor, at: datetime, **chosen: str
) -> WorkspaceSettings:
    """Change a workspace's `name`, its `time_zone` or both, and return its settings."""
    before = get_settings(connection, workspace_id)
    after = before._replace(**chosen)
    if after != before:
        connection.execute(update(workspaces).where(workspaces.c.id == workspace_id).values(**chosen))
    entries = audit.changed("workspace.change", workspace_id, before._asdict(), chosen)
    members.write_audit(connection, workspace_id, entries, actor=actor, at=at)
    return after


def accept_image(content: bytes, *, field: str) -> Image:
    """Return an uploaded file as an image: its first bytes say what it is, not its name. Raises ValidationError."""
    if len(content) > LARGEST:
        raise ValidationError(fields=[FieldError(field, TOO_LARGE)])
    for media_type, (start, further) in _SIGNATURES.items():
        if content.startswith(start) and content[8:].startswith(further):
            return Image(media_type, content)
    raise ValidationError(fields=[FieldError(field, "Choose a PNG, JPEG or WebP image")])


def set_logo(
    connection: Connection, workspace_id: int, logo: Image | None, *, actor: Actor, at: datetime
) -> WorkspaceSettings:
    """Replace a workspace's logo, None removes it, and return its settings."""
    connection.execute(delete(workspace_logos).where(workspace_logos.c.workspace_id == workspace_id))
    version = None
    if logo is not None:
        version = hashlib.sha256(logo.content).hexdigest()[:16]
        connection.execute(insert(workspace_logos).values(workspace_id=workspace_id, **logo._asdict()))
    connection.execute(update(workspaces).where(workspaces.c.id == workspace_id).values(logo_version=version))
    members.write_audit(connection, workspace_id, [Change("workspace.logo", workspace_id)], actor=actor, at=at)
    return get_settings(connection, workspace_id)


def get_logo(connection: Connection, workspace_id: int) -> Image:
    """Return a workspace's logo. Raises NotFound."""
    columns = (workspace_logos.c.media_type, workspace_logos.c.content)
    row = connection.execute(select(*columns).where(workspace_logos.c.workspace_id == workspace_id)).one_or_none()
    if row is None:
        raise NotFound("This workspace has no logo.")
    return Image(*row)
