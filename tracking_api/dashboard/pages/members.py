"""The members of the program's workspace: owners invite them, change their roles, suspend, remove and reset them."""

from dataclasses import replace
from functools import partial

from starlette.requests import Request
from starlette.responses import Response

from storage.access import invitations, members
from storage.access.workspaces import MemberStatus, Role
from tracking_api.dashboard.invitations import create_reset_link, invite, withdraw_invitation
from tracking_api.dashboard.members import change_member, remove_member, transfer_ownership
from tracking_api.dashboard.pages import buttons, forms, page_context, templates
from tracking_api.dashboard.pages.buttons import Button, FormOutcome
from tracking_api.dashboard.pages.confirmation import Question
from tracking_api.dashboard.pages.page_context import PageContext

BUTTONS = {
    "invite": Button(invite),
    "withdraw": Button(withdraw_invitation),
    "reset-link": Button(create_reset_link),
    "make-owner": Button(change_member, {"role": Role.OWNER}, "owner-made.{user_id}"),
    "make-member": Button(change_member, {"role": Role.MEMBER}, "owner-unmade.{user_id}"),
    "suspend": Button(change_member, {"status": MemberStatus.SUSPENDED}, "member-suspended.{user_id}"),
    "reactivate": Button(change_member, {"status": MemberStatus.ACTIVE}, "member-reactivated.{user_id}"),
    "remove": Button(
        remove_member,
        question=Question(
            "Remove",
            "They lose access, and their assistants are disconnected. To come back they need an invitation.",
        ),
    ),
    "hand-over": Button(
        transfer_ownership,
        question=Question("Hand over", "This member becomes an owner in your place, and you a member who reads."),
    ),
}


async def list_members(request: Request) -> Response:
    """List the members and, for owners, the invitations."""
    return await _page(await page_context.as_member(request), FormOutcome())


async def change_members(request: Request) -> Response:
    """Do what the button says; what is final asks first, and an error appears above the list."""
    context = await page_context.as_owner(request)
    form = await forms.read_form(request)
    button, call = buttons.named(BUTTONS, form), replace(context.of_workspace(), named=forms.typed(form))
    if button.question:
        member = await call.read(members.get_member, call.path_id("user_id"))
        button = button._replace(question=button.question._replace(about=member.email))
    return await buttons.press(button, call, partial(_page, context), context=context)


async def _page(context: PageContext, outcome: FormOutcome) -> Response:
    call = context.of_workspace()
    return templates.render(
        context.request,
        "members.html",
        context=context,
        members=await call.read(members.list_members),
        invitations=await call.read(invitations.list_invitations, at=call.at) if context.is_owner else [],
        **outcome.shown(),
    )
