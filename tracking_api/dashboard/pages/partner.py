"""One partner: results in any period, links, balance, customers, commissions, terms, flags and notes; and a form."""

from typing import Annotated

from pydantic import StringConstraints
from pydantic_core import to_json
from starlette.requests import Request
from starlette.responses import Response

from presentation.api_request import path_id
from presentation.changes import PartnerChange
from storage.lists.partners import Partner
from storage.management import partners
from storage.reports import partner
from storage.rules.attribution import PartnerStatus
from storage.rules.errors import ValidationError
from tracking_api.dashboard.authentication import storage_of
from tracking_api.dashboard.pages import charted, figures, forms, links, notices, page_context, ranges, templates, terms
from tracking_api.dashboard.pages.forms import Problems
from tracking_api.dashboard.pages.page import redirect
from tracking_api.dashboard.pages.page_context import PageContext
from web import body

EDITED = ("name", "code", "email", "status", "notes")
LINK = ("page", "campaign")


class PartnerEdit(PartnerChange):
    """The fields of the form."""

    notes: Annotated[str, StringConstraints(max_length=4000)] | None = None


async def show_partner(request: Request) -> Response:
    """Show one partner. Raises NotFound."""
    return await _show(request, await page_context.as_member(request), {}, Problems())


async def edit_partner(request: Request) -> Response:
    """Change a partner; an error appears beside its field. Raises NotFound."""
    context = await page_context.as_owner(request)
    form = await forms.read_form(request)
    partner_id = path_id(request, "partner_id")
    typed = {name: form.text(name) for name in EDITED}
    try:
        sent = body.parse(
            PartnerEdit, to_json(typed | {name: typed[name] or None for name in ("email", "notes")})
        ).sent()
        await page_context.change(request, context, partners.change, partner_id, sent)
    except ValidationError as rejection:
        return await _show(request, context, typed, Problems.of(rejection))
    return notices.leave(redirect(f"{context.program_path}/partners/{partner_id}"), "partner-changed")


async def _show(request: Request, context: PageContext, typed: dict[str, str], problems: Problems) -> Response:
    picker = ranges.picker(request, context.at)
    profile = await storage_of(request).report(
        partner.read_profile,
        context.program.id,
        path_id(request, "partner_id"),
        picker.picked.query,
        at=context.at,
        before=picker.picked.before,
    )
    asked = {name: request.query_params.get(name, "").strip() for name in LINK}
    link, link_problems = _link(context, profile.partner, asked)
    return templates.render(
        request,
        "partner.html",
        status=400 if problems or picker.problem or link_problems else 200,
        context=context,
        **profile._asdict() | {"results": None},
        charted=charted.of(profile.results, is_compared=picker.is_compared, details=figures.OF_PARTNER),
        link=link,
        asked=asked,
        link_problems=link_problems,
        terms=terms.of(context.program.settings),
        typed=typed or _typed(profile.partner),
        problems=problems,
        statuses=list(PartnerStatus),
        picker=picker,
    )


def _link(context: PageContext, partner: Partner, asked: dict[str, str]) -> tuple[str, Problems]:
    """Return the link that the form asks for; with what is wrong the plain one."""
    domain = context.program.settings.domain
    try:
        return links.of_partner(domain, partner.code, **asked), Problems()
    except ValidationError as rejection:
        return links.of_partner(domain, partner.code), Problems.of(rejection)


def _typed(partner: Partner) -> dict[str, str]:
    return {name: getattr(partner, name) or "" for name in EDITED}
