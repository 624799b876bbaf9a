"""What the owners of a workspace choose: its name, its time zone and its logo."""

import hashlib
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection, delete, insert, select, update

from storage.access import members
from storage.access.images import Image
from storage.engine import audit
from storage.engine.audit import Actor, Change
from storage.rules.errors import NotFound
from storage.tables import workspace_logos, workspaces


class WorkspaceSettings(NamedTuple):
    """A workspace's settings; `logo_version` changes with the logo and is None without one."""

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
