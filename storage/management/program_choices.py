"""The programs that a person can switch to, by name."""

from typing import NamedTuple

from sqlalchemy import Connection, select

from storage.access.workspaces import MemberStatus
from storage.tables import members, programs, workspaces

MOST = 30


class ProgramChoice(NamedTuple):
    """A program, by its name and its workspace's."""

    id: int
    name: str
    workspace_id: int
    workspace: str
    is_sandbox: bool


def list_choices(connection: Connection, user_id: int) -> list[ProgramChoice]:
    """Return the first 30 programs of a person's workspaces: by workspace, then by name."""
    active = (members.c.user_id == user_id, members.c.status == MemberStatus.ACTIVE)
    columns = (programs.c.id, programs.c.name, programs.c.workspace_id, workspaces.c.name.label("workspace"))
    joined = programs.join(workspaces, workspaces.c.id == programs.c.workspace_id).join(
        members, members.c.workspace_id == programs.c.workspace_id
    )
    mine = select(*columns, programs.c.sandbox_of).select_from(joined).where(*active)
    ordered = mine.order_by(programs.c.workspace_id, programs.c.name, programs.c.id).limit(MOST)
    return [ProgramChoice(*row[:4], is_sandbox=row.sandbox_of is not None) for row in connection.execute(ordered)]
