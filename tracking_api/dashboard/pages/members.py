"""The members of the program's workspace: owners invite them, change their roles, suspend, remove and reset them."""

from typing import Any

from pydantic_core import to_json
from starlette.requests import Request
from starlette.responses import Response

from storage.access import accounts, invitations, members
from storage.access.workspaces import MemberStatus, Role
from storage.rules.errors import Forbidden, LastOwner, NotFound, ValidationError
from tracking_api.dashboard.authentication import storage_of
from tracking_api.dashboard.invitations import Invitee, invitation_link, reset_link, send_invitation
from tracking_api.dashboard.pages import confirmation, forms, notices, page_context, templates, values
from tracking_api.dashboard.pages.confirmation import Question
from tracking_api.dashboard.pages.forms import Form, Problems
from tracking_api.dashboard.pages.page import redirect
from tracking_api.dashboard.pages.page_context import PageContext
from web import body

CHANGES: dict[str, tuple[dict[str, Role | MemberStatus], str]] = {
    "make-owner": ({"role": Role.OWNER}, "owner-made"),
    "make-member": ({"role": Role.MEMBER}, "owner-unmade"),
    "suspend": ({"status": MemberStatus.SUSPENDED}, "member-suspended"),
    "reactivate": ({"status": MemberStatus.ACTIVE}, "member-reactivated"),
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
    return await _page(request, await page_context.as_member(request))


async def change_members(request: Request) -> Response:
    """Do what the button says; an error appears above the list."""
    context = await page_context.as_owner(request)
    form = await forms.read_form(request)
    try:
        return await _do(request, context, form)
    except ValidationError as rejection:
        return await _page(request, context, problems=Problems.of(rejection), typed=values.typed(form))
    except (LastOwner, NotFound, Forbidden) as rejection:
        return await _page(request, context, problems=Problems({"": rejection.text}))


async def _do(request: Request, context: PageContext, form: Form) -> Response:
    action, storage, workspace_id = form.text("action"), storage_of(request), context.member.workspace_id
    about = {"actor": context.member.actor, "at": context.at}
    numbers: tuple[int, ...] = ()
    if action in FINAL and not confirmation.is_given(form):
        member = await storage.read(members.get_member, workspace_id, _id(form, "user"))
        question = Question(*FINAL[action], request.url.path, about=member.email)
        return confirmation.ask(request, form, question, context=context)
    if action == "invite":
        return await _invite(request, context, form)
    if action == "withdraw":
        await storage.write(invitations.withdraw, workspace_id, _id(form, "invitation"), **about)
        done = "invitation-withdrawn"
    elif action == "reset-link":
        about["owner_id"] = context.member.user_id
        created = await storage.write(accounts.create_member_reset_link, workspace_id, _id(form, "user"), **about)
        return await _page(request, context, reset=reset_link(request, created.token))
    elif action == "hand-over":
        about["owner_id"] = context.member.user_id
        await storage.write(members.transfer_ownership, workspace_id, _id(form, "user"), **about)
        done = "owner-changed"
    elif action == "remove":
        await storage.write(members.remove, workspace_id, _id(form, "user"), **about)
        done = "member-removed"
    elif action in CHANGES:
        (values_of_member, done), numbers = CHANGES[action], (_id(form, "user"),)
        await storage.write(members.change, workspace_id, *numbers, **values_of_member, **about)
    else:
        raise ValidationError("This button does not exist.")
    return notices.leave(redirect(request.url.path), done, *numbers)


async def _invite(request: Request, context: PageContext, form: Form) -> Response:
    fields = {"email": form.text("email"), "role": form.text("role") or Role.MEMBER}
    invitee = body.parse(Invitee, to_json(fields))
    created, emailed = await send_invitation(request, context.member.workspace_id, invitee, actor=context.member.actor)
    invited = {"email": created.invitation.email, "link": invitation_link(request, created.token), "emailed": emailed}
    return await _page(request, context, invited=invited)


async def _page(
    request: Request,
    context: PageContext,
    *,
    problems: Problems | None = None,
    typed: dict[str, str] | None = None,
    invited: dict[str, Any] | None = None,
    reset: str | None = None,
) -> Response:
    storage, workspace_id = storage_of(request), context.member.workspace_id
    waiting = await storage.read(invitations.list_invitations, workspace_id, at=context.at) if context.is_owner else []
    return templates.render(
        request,
        "members.html",
        status=400 if problems else 200,
        context=context,
        members=await storage.read(members.list_members, workspace_id),
        invitations=waiting,
        problems=problems or Problems(),
        typed=typed or {},
        invited=invited,
        reset=reset,
    )


def _id(form: Form, name: str) -> int:
    """Return the id of the row that the button belongs to. Raises NotFound."""
    text = form.text(name)
    if not (text.isascii() and text.isdecimal() and len(text) < 10):  # noqa: PLR2004 - 32 bits
        raise NotFound("There is no such row.", hint="Load the page again.")
    return int(text)
