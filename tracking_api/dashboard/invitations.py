"""Invitations: GET and POST /api/workspaces/:id/invitations, DELETE of one; POST .../members/:id/reset-link."""

from datetime import datetime

from starlette.requests import Request

from presentation.changes import Email
from presentation.operations import operation
from presentation.view import SuccessView, View
from storage.access import accounts, invitations
from storage.access.accounts import ResetLink
from storage.access.invitations import NewInvitation
from storage.access.workspaces import Role
from storage.engine.audit import Actor
from storage.rules.errors import NotFound, OwnerRequired
from tracking_api.dashboard import mail
from tracking_api.dashboard.authentication import storage_of, time_of
from tracking_api.dashboard.roles import VisitorRequest
from tracking_api.dashboard.sessions import NO_STORE
from web.body import Body
from web.response import CreatedResponse, ModelResponse


class InvitationView(View):
    """An invitation that waits for an answer."""

    id: int
    email: str
    role: Role
    created_at: datetime
    expires_at: datetime


class InvitationsView(View):
    """A workspace's invitations, the oldest first."""

    data: list[InvitationView]


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


@operation("The invitations that are not accepted yet", OwnerRequired)
async def list_invitations(call: VisitorRequest) -> ModelResponse[InvitationsView]:
    """List a workspace's invitations. Raises Forbidden, OwnerRequired."""
    listed = await call.storage.read(invitations.list_invitations, owned(call), at=call.at)
    return ModelResponse(InvitationsView(data=[InvitationView.of(each) for each in listed]))


@operation("Invite a person to a workspace", OwnerRequired, body=Invitee)
async def invite(call: VisitorRequest) -> CreatedResponse[NewInvitationView]:
    """Create an invitation and send it if the server sends e-mail. Raises Forbidden, OwnerRequired, ValidationError."""
    workspace_id = owned(call)
    invitee = await call.parse(Invitee)
    created, emailed = await send_invitation(call.request, workspace_id, invitee, actor=call.actor)
    link = invitation_link(call.request, created.token)
    shown = NewInvitationView(**created.invitation._asdict(), link=link, emailed=emailed)
    return CreatedResponse(shown, NO_STORE)


@operation("Withdraw an invitation: its link stops working", OwnerRequired, NotFound)
async def withdraw_invitation(call: VisitorRequest) -> ModelResponse[SuccessView]:
    """Withdraw an invitation. Raises Forbidden, OwnerRequired, NotFound."""
    about = {"actor": call.actor, "at": call.at}
    await call.storage.write(invitations.withdraw, owned(call), call.path_id("invitation_id"), **about)
    return ModelResponse(SuccessView(success=True))


@operation("Create a one-time link for a member who lost their password", OwnerRequired, NotFound)
async def create_reset_link(call: VisitorRequest) -> CreatedResponse[ResetLinkView]:
    """Create a link. Raises Forbidden, OwnerRequired, NotFound."""
    about = {"owner_id": call.visitor.user_id, "actor": call.actor, "at": call.at}
    created: ResetLink = await call.storage.write(
        accounts.create_member_reset_link, owned(call), call.path_id("user_id"), **about
    )
    link = reset_link(call.request, created.token)
    return CreatedResponse(ResetLinkView(link=link, expires_at=created.expires_at), NO_STORE)


def owned(call: VisitorRequest) -> int:
    """Return the path's workspace. Raises Forbidden, or OwnerRequired for a member who does not own it."""
    workspace_id = call.path_id("workspace_id")
    call.visitor.require_workspace(workspace_id, owner=True)
    return workspace_id


async def send_invitation(
    request: Request, workspace_id: int, invitee: Invitee, *, actor: Actor
) -> tuple[NewInvitation, bool]:
    """Create an invitation and send it. Return it and whether it was sent. Raises ValidationError."""
    about = {"email": invitee.email, "role": invitee.role, "actor": actor, "at": time_of(request)}
    created: NewInvitation = await storage_of(request).write(invitations.invite, workspace_id, **about)
    emailed = await mail.send(
        request,
        created.invitation.email,
        "invitation",
        inviter=actor.name,
        workspace=created.workspace,
        link=invitation_link(request, created.token),
        expires_on=created.invitation.expires_at.date().isoformat(),
    )
    return created, emailed


def invitation_link(request: Request, token: str) -> str:
    """Return the link that an invitation's token opens."""
    return f"{request.app.state.base_url}/join/{token}"


def reset_link(request: Request, token: str) -> str:
    """Return the link that sets a new password."""
    return f"{request.app.state.base_url}/reset-password/{token}"
