"""The members of a workspace, as its pages list them."""

from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection, select

from storage.access.workspaces import MemberStatus, Role
from storage.tables import members, users


class MemberRecord(NamedTuple):
    """A member: who they are, what they may do, and since when."""

    email: str
    role: Role
    status: MemberStatus
    created_at: datetime


def list_members(connection: Connection, workspace_id: int) -> list[MemberRecord]:
    """Return a workspace's members, suspended ones included: owners first, then in the order of joining."""
    columns = (users.c.email, members.c.role, members.c.status, members.c.created_at)
    mine = select(*columns).join(members, members.c.user_id == users.c.id).where(members.c.workspace_id == workspace_id)
    rows = connection.execute(mine.order_by(members.c.role.desc(), members.c.created_at, users.c.id))
    return [MemberRecord(row.email, Role(row.role), MemberStatus(row.status), row.created_at) for row in rows]
