"""Partners: the list, and one partner's results, links, balance, customers, commissions, terms, flags and notes."""

from typing import Annotated

from pydantic import StringConstraints
from starlette.responses import Response

from presentation.changes import PartnerChange, change_partner, enrol_partner
from storage.lists.partners import PARTNERS, Partner
from storage.reports import partner
from storage.rules.attribution import PartnerStatus
from storage.rules.errors import ValidationError
from tracking_api.dashboard.pages import charted, figures, links, ranges
from tracking_api.dashboard.pages.buttons import Button, FormOutcome, FormPage, elsewhere
from tracking_api.dashboard.pages.commission import terms_of
from tracking_api.dashboard.pages.forms import Problems
from tracking_api.dashboard.pages.lists import ListPage
from tracking_api.dashboard.pages.page_context import PageContext

PARTNER = "/programs/{program_id}/partners/{partner_id}"
EDITED = ("name", "code", "email", "status", "notes")
LINK = ("page", "campaign")


class PartnerEdit(PartnerChange):
    """The fields of the form."""

    notes: Annotated[str, StringConstraints(max_length=4000)] | None = None


async def _page(context: PageContext, outcome: FormOutcome) -> Response:
    request, partner_id = context.request, context.path_id("partner_id")
    picker = ranges.picker(request, context.at)
    picked = picker.picked
    profile = await context.report(partner.read_profile, partner_id, picked.query, at=context.at)
    asked = {name: request.query_params.get(name, "").strip() for name in LINK}
    link, link_problems = _link(context, profile.partner, asked)
    return outcome.page(
        context,
        "partner.html",
        stored={name: getattr(profile.partner, name) or "" for name in EDITED},
        status=400 if outcome.problems or picker.problem or link_problems else 200,
        **profile._asdict() | {"results": None},
        charted=charted.of(profile.results, is_compared=picker.is_compared, details=figures.OF_PARTNER),
        link=link,
        asked=asked,
        link_problems=link_problems,
        terms=terms_of(context.program.settings),
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


PARTNER_LIST = ListPage(PARTNERS, "partners.html")
ENROL = FormPage(PARTNER_LIST.page, Button(enrol_partner))
EDIT = FormPage(_page, Button(change_partner.taking(PartnerEdit), then=PARTNER))
PAUSE = FormPage(
    elsewhere, Button(change_partner, notice="partner-{status}.{id}", then=PARTNER.removesuffix("/{partner_id}"))
)
