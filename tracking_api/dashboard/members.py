"""GET, PATCH and DELETE /api/workspaces/:id/members, POST /api/workspaces/:id/owner."""

from datetime import datetime
from typing import Annotated

from pydantic import Field

from presentation.operations import operation
from presentation.view import SuccessView, View
from storage.access import members
from storage.access.workspaces import MemberStatus, Role
from storage.rules.errors import LastOwner, NotFound, OwnerRequired
from tracking_api.dashboard.invitations import owned
from tracking_api.dashboard.roles import VisitorRequest
from web.body import Body
from web.response import ModelResponse


class MemberView(View):
    """A member of a workspace."""

    user_id: int
    email: str
    role: Role
    status: MemberStatus
    created_at: datetime


class MembersView(View):
    """A workspace's members: owners first, then in the order of joining."""

    data: list[MemberView]


class MemberChange(Body):
    """A member's new role or status; a field that is absent does not change."""

    role: Role | None = None
    status: MemberStatus | None = None


class NewOwner(Body):
    """The active member who becomes an owner in place of the one who asks."""

    user_id: Annotated[int, Field(ge=1, le=2**53)]


@operation("The members of a workspace")
async def list_members(call: VisitorRequest) -> ModelResponse[MembersView]:
    """List a workspace's members. Raises Forbidden."""
    workspace_id = call.path_id("workspace_id")
    call.visitor.require_workspace(workspace_id)
    listed = await call.storage.read(members.list_members, workspace_id)
    return ModelResponse(MembersView(data=[MemberView.of(each) for each in listed]))


@operation("Change a member's role, suspend or reactivate them", OwnerRequired, LastOwner, body=MemberChange)
async def change_member(call: VisitorRequest) -> ModelResponse[MemberView]:
    """Change a member. Raises Forbidden, OwnerRequired, NotFound, LastOwner."""
    workspace_id = owned(call)
    sent = (await call.parse(MemberChange)).model_dump(exclude_none=True)
    user_id = call.path_id("user_id")
    if sent:
        about = {"actor": call.actor, "at": call.at}
        changed = await call.storage.write(members.change, workspace_id, user_id, **sent, **about)
    else:
        changed = await call.storage.read(members.get_member, workspace_id, user_id)
    return ModelResponse(MemberView.of(changed))


@operation("Remove a member from a workspace; the account stays", OwnerRequired, LastOwner)
async def remove_member(call: VisitorRequest) -> ModelResponse[SuccessView]:
    """Remove a member. Raises Forbidden, OwnerRequired, NotFound, LastOwner."""
    workspace_id = owned(call)
    await call.storage.write(members.remove, workspace_id, call.path_id("user_id"), actor=call.actor, at=call.at)
    return ModelResponse(SuccessView(success=True))


@operation("Hand a workspace over to another active member", OwnerRequired, NotFound, body=NewOwner)
async def transfer_ownership(call: VisitorRequest) -> ModelResponse[SuccessView]:
    """Make a member an owner in place of the one who asks. Raises Forbidden, OwnerRequired, NotFound."""
    workspace_id = owned(call)
    new_owner = (await call.parse(NewOwner)).user_id
    about = {"owner_id": call.visitor.user_id, "actor": call.actor, "at": call.at}
    await call.storage.write(members.transfer_ownership, workspace_id, new_owner, **about)
    return ModelResponse(SuccessView(success=True))
