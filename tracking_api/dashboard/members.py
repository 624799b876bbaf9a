"""A workspace and its logo, members and invitations: /api/workspaces/:id and what is under it, and the two pages."""

from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any

from pydantic import AfterValidator, Base64Bytes
from starlette.requests import Request
from starlette.responses import Response

from presentation.changes import Changes, Email, RowId
from presentation.operations import operation
from presentation.settings_models import Name
from presentation.view import View, with_fields_of
from storage.access import accounts, invitations, members, workspaces
from storage.rules.errors import LastOwner, NotFound, PayloadTooLarge, RateLimited
from storage.rules.periods import time_zones
from tracking_api.dashboard import mail
from tracking_api.dashboard.authentication import WorkspaceRequest, of_workspace
from tracking_api.dashboard.pages.buttons import QUESTIONS, Button, FormOutcome, FormPage, Question, drawn
from tracking_api.dashboard.pages.page_context import PageContext
from web.body import Body
from web.response import CreatedResponse

LARGEST_UPLOAD = 1024 * 1024  # the error of a larger one does not stand beside the field
LOGO_HEADERS = {
    "Cache-Control": "private, max-age=31536000, immutable",  # its URL changes with the logo
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Content-Disposition": "inline",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class MemberChange(Body):
    """A member's new role or status; a field that is absent does not change."""

    role: workspaces.Role | None = None
    status: workspaces.MemberStatus | None = None


class NewOwner(Body):
    """The active member who becomes an owner in place of the one who asks."""

    user_id: RowId


@with_fields_of(invitations.Invitation)
class NewInvitationView(View):
    """A new invitation. Only this response shows `link`; `emailed` says whether it was sent by e-mail, too."""

    link: str
    emailed: bool


@with_fields_of(accounts.ResetLink, leave_out={"token"})
class ResetLinkView(View):
    """A one-time link that sets a new password, shown only here; it works from `usable_at` on (null: at once).

    `emailed` says whether the account's holder was told by e-mail.
    """

    link: str
    emailed: bool


class Invitee(Body):
    """A person to invite, and their role."""

    email: Email
    role: workspaces.Role = workspaces.Role.MEMBER


@operation()
async def list_members(call: WorkspaceRequest) -> list[members.Member]:
    """List the members of a workspace: owners first, then in the order of joining."""
    return await call.read(members.list_members)


@operation(LastOwner)
async def change_member(call: WorkspaceRequest, sent: MemberChange) -> members.Member:
    """Change a member's role, suspend or reactivate them."""
    return await call.write(members.change, call.path_id("user_id"), **sent.model_dump(exclude_none=True))


@operation(LastOwner, notice="member-removed")
async def remove_member(call: WorkspaceRequest) -> None:
    """Remove a member from a workspace; the account stays."""
    await call.write(members.remove, call.path_id("user_id"))


@operation(NotFound, notice="owner-changed")
async def transfer_ownership(call: WorkspaceRequest, sent: NewOwner) -> None:
    """Hand a workspace over to another active member."""
    await call.write(members.transfer_ownership, sent.user_id)


@operation()
async def list_invitations(call: WorkspaceRequest) -> list[invitations.Invitation]:
    """List the invitations that are not accepted yet, the oldest first."""
    return await call.read(invitations.list_invitations, at=call.at)


@operation(RateLimited)
async def invite(call: WorkspaceRequest, sent: Invitee) -> CreatedResponse[NewInvitationView]:
    """Invite a person to a workspace, by e-mail if the server sends it."""
    await call.hit("mail")
    created = await call.write(invitations.invite, email=sent.email, role=sent.role)
    invitation, link = created.invitation, f"{call.base_url}/join#"
    expires_on = invitation.expires_at.date().isoformat()
    about: Any = {"inviter": call.actor.name, "workspace": call.visitor.workspace.name, "expires_on": expires_on}
    emailed = await mail.send(call.request, invitation.email, "invitation", link=link + created.mailed_token, **about)
    return CreatedResponse(NewInvitationView(**invitation._asdict(), link=link + created.token, emailed=emailed))


@operation(NotFound, notice="invitation-withdrawn")
async def withdraw_invitation(call: WorkspaceRequest) -> None:
    """Withdraw an invitation: its link stops working."""
    await call.write(invitations.withdraw, call.path_id("invitation_id"))


@operation(NotFound, RateLimited)
async def create_reset_link(call: WorkspaceRequest) -> CreatedResponse[ResetLinkView]:
    """Create a one-time link for a member who lost their password, and tell the account's holder."""
    await call.hit("mail")
    member = await call.read(members.get_member, call.path_id("user_id"))
    created = await call.storage.write(accounts.create_reset_link, member.user_id, by=call.by)
    begins = f"It works from {created.usable_at:%Y-%m-%d %H:%M} UTC on. " if created.usable_at else ""
    emailed = await mail.send_alert(call.request, member.email, "reset-link", by=call.actor.name, begins=begins)
    link = reset_link(call.request, created.token)
    return CreatedResponse(ResetLinkView(**created._asdict(), link=link, emailed=emailed))


def reset_link(request: Request, token: str) -> str:
    """Return the link that sets a new password."""
    return f"{request.app.state.base_url}/reset-password#{token}"


async def _page(context: PageContext, _: FormOutcome) -> dict[str, Any]:
    call, is_owner = context.of_workspace(), context.role in workspaces.OWNERS
    return {
        "members": await call.read(members.list_members),
        "sends_mail": mail.is_on(context.request),
        "invitations": await call.read(invitations.list_invitations, at=call.at) if is_owner else [],
    }


async def _final(name: str, calls: Sequence[WorkspaceRequest]) -> Question:
    """Ask with the member whom it concerns."""
    member = await calls[0].read(members.get_member, calls[0].path_id("user_id"))
    return QUESTIONS[name]._replace(about=member.email)


BUTTONS = {
    "invite": Button(invite),
    "withdraw": Button(withdraw_invitation),
    "reset-link": Button(create_reset_link),
    "role": Button(change_member, notice="role-changed"),
    "suspend": Button(change_member, {"status": workspaces.MemberStatus.SUSPENDED}, "member-suspended.{user_id}"),
    "reactivate": Button(change_member, {"status": workspaces.MemberStatus.ACTIVE}, "member-reactivated.{user_id}"),
    "remove": Button(remove_member, question=partial(_final, "remove-member")),
    "hand-over": Button(transfer_ownership, question=partial(_final, "hand-over")),
}
PAGE = FormPage(drawn("members.html", _page), BUTTONS, subject=PageContext.of_workspace)


class WorkspaceChange(Changes):
    """The settings of a workspace to change; `time_zone` is UTC or Region/City."""

    name: Name = ""
    time_zone: Annotated[str, AfterValidator(time_zones.known)] = time_zones.UTC


class NewLogo(Body):
    """A PNG, JPEG or WebP image in base64; the request has at most 64 KB."""

    image: Base64Bytes


@operation()
async def get_workspace(call: WorkspaceRequest) -> members.WorkspaceSettings:
    """Return a workspace's name, time zone and logo."""
    return await call.read(members.get_settings)


@operation(notice="workspace-saved")
async def change_workspace(call: WorkspaceRequest, sent: WorkspaceChange) -> members.WorkspaceSettings:
    """Change a workspace's name or time zone."""
    return await call.write(members.change_settings, **sent.sent())


@operation(PayloadTooLarge, notice="logo-saved")
async def replace_logo(call: WorkspaceRequest, sent: NewLogo) -> members.WorkspaceSettings:
    """Replace a workspace's logo."""
    return await call.write(members.set_logo, sent.image)


@operation(notice="logo-removed")
async def remove_logo(call: WorkspaceRequest) -> members.WorkspaceSettings:
    """Remove a workspace's logo."""
    return await call.write(members.set_logo, None)


async def show_logo(request: Request) -> Response:
    """Serve the logo to a member, as nothing but an image. Raises NotFound, Forbidden."""
    logo = await (await of_workspace(request)).read(members.get_logo)
    request.scope["extra_headers"] = ()
    return Response(logo.content, headers=LOGO_HEADERS, media_type=logo.media_type)


async def _workspace_page(context: PageContext, _: FormOutcome) -> dict[str, Any]:
    workspace = context.visitor.workspace
    return {
        "stored": {"name": workspace.name, "time_zone": workspace.time_zone},
        "zones": time_zones.names(),
        "accepted": ",".join(members.MEDIA_TYPES),
        "largest_kb": members.LARGEST_LOGO // 1024,
    }


WORKSPACE = FormPage(
    drawn("workspace.html", _workspace_page),
    {"": Button(change_workspace), "logo": Button(replace_logo), "remove-logo": Button(remove_logo)},
    subject=PageContext.of_workspace,
    largest_file=LARGEST_UPLOAD,
)
