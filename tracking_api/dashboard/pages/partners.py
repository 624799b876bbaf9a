"""Partners: the list, and one partner's results, links, balance, customers, commissions, terms, flags and notes."""

import io
from functools import partial
from typing import Annotated
from urllib.parse import quote, urlencode, urlsplit, urlunsplit

import segno
from pydantic import StringConstraints
from starlette.requests import Request
from starlette.responses import Response

from presentation.changes import PartnerChange, adjust_balance, change_partner, enrol_partner
from storage.lists.find import get
from storage.lists.partners import PARTNERS
from storage.management import by_hand
from storage.reports import partner
from storage.rules.attribution import PartnerStatus, site_url
from storage.rules.click_details import CAMPAIGN
from storage.rules.errors import FieldError, ValidationError
from tracking_api.dashboard.pages import charted, page_context, ranges
from tracking_api.dashboard.pages.buttons import (
    DECIDERS,
    MANAGERS,
    Button,
    FormOutcome,
    FormPage,
    SelectedRows,
    elsewhere,
)
from tracking_api.dashboard.pages.commission import terms_of
from tracking_api.dashboard.pages.forms import Problems
from tracking_api.dashboard.pages.lists import ListPage
from tracking_api.dashboard.pages.page_context import PageContext

PROGRAM = "/programs/{program_id}"
PARTNER = PROGRAM + "/partners/{partner_id}"
EDITED = ("name", "code", "email", "status", "notes")
LINK = ("page", "campaign")
LONGEST_PAGE = 1000
LONGEST_CAMPAIGN = 100


class PartnerEdit(PartnerChange):
    """The fields of the form."""

    notes: Annotated[str, StringConstraints(max_length=4000)] | None = None


async def _page(context: PageContext, outcome: FormOutcome) -> Response:
    request, partner_id = context.request, context.path_id("partner_id")
    picker = ranges.picker(request, context.at)
    picked = picker.picked
    profile = await context.report(partner.read_profile, partner_id, picked.query, at=context.at)
    asked = {name: request.query_params.get(name, "").strip() for name in LINK}
    link_to, link_problems = partial(link_of, context.program.settings.domain, profile.partner.code), Problems()
    try:
        link = link_to(**asked)
    except ValidationError as rejection:
        link, link_problems = link_to(), Problems.of(rejection)
    stored = {name: getattr(profile.partner, name) or "" for name in EDITED}
    return outcome.page(
        context,
        "partner.html",
        stored=stored,
        edited=outcome.typed if "name" in outcome.typed else stored,
        status=400 if outcome.problems or picker.problem or link_problems else 200,
        **profile._asdict() | {"results": None},
        charted=charted.of(profile.results, is_compared=picker.is_compared, figure=picker.address["figure"]),
        adjustments=await context.read(by_hand.list_adjustments, partner_id),
        link=link,
        asked=asked,
        link_problems=link_problems,
        terms=terms_of(context.program.settings),
        statuses=list(PartnerStatus),
        picker=picker,
    )


def link_of(domain: str, code: str, page: str = "", campaign: str = "") -> str:
    """Return a partner's link to a page of the shop (its path, or its URL). Raises ValidationError."""
    shop, parts = urlsplit(site_url(domain)), urlsplit(page)
    if (
        len(page) > LONGEST_PAGE
        or not page.isprintable()
        or (parts.scheme, parts.netloc) not in {("", ""), ("http", shop.netloc), ("https", shop.netloc)}
    ):
        raise ValidationError(fields=[FieldError("page", f"Enter a page of {domain}, such as /pricing")])
    if len(campaign) > LONGEST_CAMPAIGN or not campaign.isprintable():
        raise ValidationError(fields=[FieldError("campaign", f"Use at most {LONGEST_CAMPAIGN} letters or digits")])
    tags = urlencode({"aff": code} | ({CAMPAIGN: campaign} if campaign else {}), quote_via=quote, safe="")
    path = "/" + quote(parts.path.lstrip("/"), safe="/%:@!$&'()*+,;=~")
    return urlunsplit((shop.scheme, shop.netloc, path, "&".join(filter(None, [parts.query, tags])), parts.fragment))


async def show_qr_code(request: Request) -> Response:
    """Return the QR code of a partner's link, dark on white, so that a camera reads it on a dark page, too.

    Raises NotFound, ValidationError.
    """
    context = await page_context.as_member(request)
    partner = await context.storage.read(get, PARTNERS, context.scope, context.path_id("partner_id"))
    asked = (request.query_params.get(name, "") for name in LINK)
    link = link_of(context.program.settings.domain, partner.code, *asked)
    image = io.BytesIO()
    segno.make(link, micro=False).save(image, kind="svg", scale=6, light="white")
    headers = {"Content-Disposition": f'inline; filename="{quote(partner.code)}.svg"'}
    return Response(image.getvalue(), media_type="image/svg+xml", headers=headers)


PARTNER_LIST = ListPage(PARTNERS, "partners.html", sort="revenue")
ENROL = FormPage(PARTNER_LIST.page, Button(enrol_partner), who=MANAGERS)
EDIT = FormPage(_page, Button(change_partner.taking(PartnerEdit), then=PARTNER), who=MANAGERS)
ADJUST = FormPage(_page, Button(adjust_balance, then=PARTNER), who=DECIDERS)
PAUSE = FormPage(
    elsewhere,
    Button(change_partner, notice="partner-{status}.{id}", then=f"{PROGRAM}/partners"),
    by="status",
    who=MANAGERS,
)
PAUSE_SELECTED = SelectedRows(PAUSE, "partner_id", "partners")
