"""Partners: each with their referral link and results; owners add, pause and resume them."""

from pydantic_core import to_json
from starlette.requests import Request
from starlette.responses import Response

from presentation.api_request import path_id
from presentation.changes import NewPartner
from storage.lists.partners import PARTNERS
from storage.management import partners
from storage.rules.attribution import PartnerStatus
from storage.rules.errors import ValidationError
from tracking_api.dashboard.pages import (
    forms,
    notices,
    page_context,
    templates,
)
from tracking_api.dashboard.pages.forms import Problems
from tracking_api.dashboard.pages.lists import ListPage
from tracking_api.dashboard.pages.page import redirect
from tracking_api.dashboard.pages.page_context import PageContext
from web import body

SAID = {PartnerStatus.ACTIVE: "partner-active", PartnerStatus.PAUSED: "partner-paused"}


PARTNER_LIST = ListPage(PARTNERS, "partners.html")


async def list_partners(request: Request) -> Response:
    """List the partners with what they brought in the period."""
    return await _list(request, await page_context.as_member(request), {}, Problems())


async def enrol_partner(request: Request) -> Response:
    """Add a partner; an error appears beside its field."""
    context = await page_context.as_owner(request)
    form = await forms.read_form(request)
    try:
        fields = {"name": form.text("name"), "code": form.text("code"), "email": form.text("email") or None}
        sent = body.parse(NewPartner, to_json(fields)).sent()
        await page_context.change(request, context, partners.enrol, **sent)
    except ValidationError as rejection:
        return await _list(request, context, forms.typed(form), Problems.of(rejection))
    return notices.leave(redirect(f"{context.program_path}/partners"), "partner-added")


async def change_partner(request: Request) -> Response:
    """Pause a partner, or make them active again. Raises NotFound, ValidationError for another status."""
    context = await page_context.as_owner(request)
    form = await forms.read_form(request)
    status = {each.value: each for each in SAID}.get(form.text("status"))
    if status is None:
        raise ValidationError("A partner is made active or paused here.")
    partner_id = path_id(request, "partner_id")
    await page_context.change(request, context, partners.change, partner_id, {"status": status})
    return notices.leave(redirect(f"{context.program_path}/partners"), SAID[status], partner_id)


async def _list(request: Request, context: PageContext, typed: dict[str, str], problems: Problems) -> Response:
    shown = {"list": await PARTNER_LIST.read(request, context), "typed": typed, "problems": problems}
    return templates.render(request, PARTNER_LIST.template, status=400 if problems else 200, context=context, **shown)
