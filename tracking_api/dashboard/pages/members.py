"""The members of the program's workspace: owners invite them, change their roles, suspend, remove and reset them."""

from starlette.requests import Request
from starlette.responses import Response

from storage.access import invitations, members
from storage.access.workspaces import MemberStatus, Role
from tracking_api.dashboard.invitations import create_reset_link, invite, withdraw_invitation
from tracking_api.dashboard.members import change_member, remove_member, transfer_ownership
from tracking_api.dashboard.pages import buttons, confirmation, forms, page_context, templates
from tracking_api.dashboard.pages.buttons import Button, FormOutcome
from tracking_api.dashboard.pages.confirmation import Question
from tracking_api.dashboard.pages.page_context import PageContext
from tracking_api.dashboard.roles import WorkspaceRequest, workspace_request

BUTTONS = {
    "invite": Button(invite),
    "withdraw": Button(withdraw_invitation),
    "reset-link": Button(create_reset_link),
    "make-owner": Button(change_member, {"role": Role.OWNER}, "owner-made"),
    "make-member": Button(change_member, {"role": Role.MEMBER}, "owner-unmade"),
    "suspend": Button(change_member, {"status": MemberStatus.SUSPENDED}, "member-suspended"),
    "reactivate": Button(change_member, {"status": MemberStatus.ACTIVE}, "member-reactivated"),
    "remove": Button(remove_member),
    "hand-over": Button(transfer_ownership),
}
FINAL = {
    "remove": (
        "Remove",
        "They lose access, and their assistants are disconnected. To come back they need an invitation.",
    ),
    "hand-over": ("Hand over", "This member becomes an owner in your place, and you a member who reads."),
}


async def list_members(request: Request) -> Response:
    """List the members and, for owners, the invitations."""
    context = await page_context.as_member(request)
    return await _page(workspace_request(request, context.member, context.member.workspace_id), context, FormOutcome())


async def change_members(request: Request) -> Response:
    """Do what the button says; what is final asks first, and an error appears above the list."""
    context = await page_context.as_owner(request)
    form = await forms.read_form(request)
    action, button, user = form.text("action"), buttons.named(BUTTONS, form), form.text("user")
    named = {"user_id": user, "invitation_id": form.text("invitation")}
    call = workspace_request(request, context.member, context.member.workspace_id, named)
    if action in FINAL and not confirmation.is_given(form):
        member = await call.read(members.get_member, call.path_id("user_id"))
        question = Question(*FINAL[action], request.url.path, about=member.email)
        return confirmation.ask(request, form, question, context=context)
    numbers = [int(user)] if user.isdecimal() else []
    return await buttons.press(button, call, form, lambda outcome: _page(call, context, outcome), *numbers)


async def _page(call: WorkspaceRequest, context: PageContext, outcome: FormOutcome) -> Response:
    return templates.render(
        call.request,
        "members.html",
        status=400 if outcome.problems else 200,
        context=context,
        members=await call.read(members.list_members),
        invitations=await call.read(invitations.list_invitations, at=call.at) if context.is_owner else [],
        **outcome._asdict(),
    )
