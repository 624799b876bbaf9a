"""GET, PATCH and DELETE /api/workspaces/:id/members, POST /api/workspaces/:id/owner."""

from typing import Annotated

from pydantic import Field

from presentation.actions import action
from presentation.operations import operation
from presentation.view import SUCCESS, ListView, SuccessView, View, with_fields_of
from storage.access import members
from storage.access.members import MemberRecord
from storage.access.workspaces import MemberStatus, Role
from storage.rules.errors import LastOwner, NotFound
from tracking_api.dashboard.roles import WorkspaceRequest
from web.body import Body
from web.response import ModelResponse


@with_fields_of(MemberRecord, leave_out={"name"})
class MemberView(View):
    """A member of a workspace."""


class MemberChange(Body):
    """A member's new role or status; a field that is absent does not change."""

    role: Role | None = None
    status: MemberStatus | None = None


class NewOwner(Body):
    """The active member who becomes an owner in place of the one who asks."""

    user_id: Annotated[int, Field(ge=1, le=2**53)]


@operation("The members of a workspace: owners first, then in the order of joining")
async def list_members(call: WorkspaceRequest) -> ModelResponse[ListView[MemberView]]:
    """List a workspace's members."""
    return ModelResponse(ListView[MemberView].of_rows(await call.read(members.list_members)))


@action("Change a member's role, suspend or reactivate them", LastOwner)
async def change_member(call: WorkspaceRequest, sent: MemberChange) -> ModelResponse[MemberView]:
    """Change a member. Raises NotFound, LastOwner."""
    user_id, changes = call.path_id("user_id"), sent.model_dump(exclude_none=True)
    if changes:
        changed = await call.write(members.change, user_id, **changes)
    else:
        changed = await call.read(members.get_member, user_id)
    return ModelResponse(MemberView.of(changed))


@action("Remove a member from a workspace; the account stays", LastOwner, notice="member-removed")
async def remove_member(call: WorkspaceRequest) -> ModelResponse[SuccessView]:
    """Remove a member. Raises NotFound, LastOwner."""
    await call.write(members.remove, call.path_id("user_id"))
    return ModelResponse(SUCCESS)


@action("Hand a workspace over to another active member", NotFound, notice="owner-changed")
async def transfer_ownership(call: WorkspaceRequest, sent: NewOwner) -> ModelResponse[SuccessView]:
    """Make a member an owner in place of the one who asks. Raises NotFound."""
    await call.write(members.transfer_ownership, sent.user_id, owner_id=call.user_id)
    return ModelResponse(SUCCESS)
