"""Partners: each with their referral link and results; owners add, pause and resume them."""

from urllib.parse import quote

from pydantic_core import to_json
from starlette.requests import Request
from starlette.responses import Response

from presentation import queries
from presentation.api_request import path_id
from presentation.changes import NewPartner
from storage.management import balances, partners
from storage.reading import performance
from storage.rules import host_name
from storage.rules.attribution import PartnerStatus
from storage.rules.errors import ValidationError
from tracking_api.dashboard.authentication import storage_of
from tracking_api.dashboard.pages import forms, notices, page_context, ranges, templates, values
from tracking_api.dashboard.pages.forms import Problems
from tracking_api.dashboard.pages.page import redirect
from tracking_api.dashboard.pages.page_context import PageContext
from web import body

SAID = {PartnerStatus.ACTIVE: "partner-active", PartnerStatus.PAUSED: "partner-paused"}


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
        await storage_of(request).write(
            partners.enrol,
            context.program.id,
            **sent,
            actor=context.member.actor,
            at=context.at,
            lane=context.program.id,
        )
    except ValidationError as rejection:
        return await _list(request, context, values.typed(form), Problems.of(rejection))
    return notices.leave(redirect(f"{context.program_path}/partners"), "partner-added")


async def change_partner(request: Request) -> Response:
    """Pause a partner, or make them active again. Raises NotFound, ValidationError for another status."""
    context = await page_context.as_owner(request)
    form = await forms.read_form(request)
    status = {each.value: each for each in SAID}.get(form.text("status"))
    if status is None:
        raise ValidationError("A partner is made active or paused here.")
    await storage_of(request).write(
        partners.change,
        context.program.id,
        path_id(request, "partner_id"),
        {"status": status},
        actor=context.member.actor,
        at=context.at,
        lane=context.program.id,
    )
    return notices.leave(redirect(f"{context.program_path}/partners"), SAID[status])


def referral_link(context: PageContext, code: str) -> str:
    """Return a partner's referral link."""
    return f"{host_name.url_of(context.program.settings.domain)}/?aff={quote(code, safe='')}"


async def _list(request: Request, context: PageContext, typed: dict[str, str], problems: Problems) -> Response:
    storage = storage_of(request)
    page = await storage.read(partners.list_partners, context.program.id, queries.paging(request))
    picked, created_at = ranges.requested(request, context.at), context.program.created_at
    chosen = await storage.report(
        performance.choose, context.program.id, picked.query, created_at=created_at, at=context.at
    )
    shown = [partner.id for partner in page.data]
    brought = await storage.report(performance.by_partner, context.program.id, chosen.window, partner_ids=shown)
    owed = await storage.read(balances.of_partners, context.program.id, shown, at=context.at)
    results = {result.partner_id: result.totals for result in brought}
    return templates.render(
        request,
        "partners.html",
        status=400 if problems else 200,
        context=context,
        page=page,
        rows=[
            (each, referral_link(context, each.code), results.get(each.id, performance.Totals()), owed[each.id])
            for each in page.data
        ],
        typed=typed,
        problems=problems,
        picker=ranges.picker(request, picked),
    )
