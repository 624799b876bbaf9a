"""One-time links, which set a password or invite: a change of memberships ends those that it concerns."""

from sqlalchemy import Connection, delete, or_, select

from storage.tables import invitations, members, password_resets


def end(connection: Connection, workspace_id: int, user_id: int) -> None:
    """End the links that a change of a user's membership of a workspace concerns.

    These are the reset link of their account, whoever created it, the reset links that they created for members of
    the workspace, and their invitations to it.
    """
    reset, invitation = password_resets.c, invitations.c
    in_workspace = select(members.c.user_id).where(members.c.workspace_id == workspace_id)
    given = (reset.created_by == user_id) & reset.user_id.in_(in_workspace)
    connection.execute(delete(password_resets).where(or_(reset.user_id == user_id, given)))
    invited = (invitation.workspace_id == workspace_id, invitation.created_by == user_id)
    connection.execute(delete(invitations).where(*invited))
