"""Invitations: GET and POST /api/workspaces/:id/invitations, DELETE of one; POST .../members/:id/reset-link."""

from datetime import datetime

from starlette.requests import Request

from presentation.actions import action
from presentation.changes import Email
from presentation.operations import operation
from presentation.view import SUCCESS, ListView, SuccessView, View, with_fields_of
from storage.access import accounts, invitations
from storage.access.invitations import Invitation
from storage.access.workspaces import Role
from storage.rules.errors import NotFound
from tracking_api.dashboard import mail
from tracking_api.dashboard.roles import WorkspaceRequest
from tracking_api.dashboard.sessions import NO_STORE
from web.body import Body
from web.response import CreatedResponse, ModelResponse


@with_fields_of(Invitation)
class InvitationView(View):
    """An invitation that waits for an answer."""


class NewInvitationView(InvitationView):
    """A new invitation. Only this response shows `link`; `emailed` says whether it was sent by e-mail, too."""

    link: str
    emailed: bool


class ResetLinkView(View):
    """A one-time link that sets a new password. Only this response shows it."""

    link: str
    expires_at: datetime


class Invitee(Body):
    """A person to invite, and their role."""

    email: Email
    role: Role = Role.MEMBER


@operation("The invitations that are not accepted yet, the oldest first")
async def list_invitations(call: WorkspaceRequest) -> ModelResponse[ListView[InvitationView]]:
    """List a workspace's invitations."""
    return ModelResponse(ListView[InvitationView].of_rows(await call.read(invitations.list_invitations, at=call.at)))


@action("Invite a person to a workspace")
async def invite(call: WorkspaceRequest, sent: Invitee) -> CreatedResponse[NewInvitationView]:
    """Create an invitation and send it if the server sends e-mail. Raises ValidationError."""
    created = await call.write(invitations.invite, email=sent.email, role=sent.role)
    invitation, link = created.invitation, f"{call.base_url}/join/{created.token}"
    expires_on = invitation.expires_at.date().isoformat()
    about = {"inviter": call.actor.name, "workspace": created.workspace, "link": link, "expires_on": expires_on}
    emailed = await mail.send(call.request, invitation.email, "invitation", **about)
    return CreatedResponse(NewInvitationView(**invitation._asdict(), link=link, emailed=emailed), NO_STORE)


@action("Withdraw an invitation: its link stops working", NotFound, notice="invitation-withdrawn")
async def withdraw_invitation(call: WorkspaceRequest) -> ModelResponse[SuccessView]:
    """Withdraw an invitation. Raises NotFound."""
    await call.write(invitations.withdraw, call.path_id("invitation_id"))
    return ModelResponse(SUCCESS)


@action("Create a one-time link for a member who lost their password", NotFound)
async def create_reset_link(call: WorkspaceRequest) -> CreatedResponse[ResetLinkView]:
    """Create a link. Raises Forbidden for an account that is also elsewhere, NotFound."""
    created = await call.write(accounts.create_member_reset_link, call.path_id("user_id"), owner_id=call.user_id)
    shown = ResetLinkView(link=reset_link(call.request, created.token), expires_at=created.expires_at)
    return CreatedResponse(shown, NO_STORE)


def reset_link(request: Request, token: str) -> str:
    """Return the link that sets a new password."""
    return f"{request.app.state.base_url}/reset-password/{token}"
