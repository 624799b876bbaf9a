"""Partners and what they earn: the list, a partner's results, links, balance and edits, a commission's arithmetic."""

import io
from typing import Annotated, Any
from urllib.parse import quote, urlencode, urlsplit, urlunsplit

import segno
from pydantic import StringConstraints
from starlette.requests import Request
from starlette.responses import Response

from presentation import backtests, changes, payouts
from presentation.settings_models import Name
from storage.access.workspaces import DECIDERS, MANAGERS, OWNERS, PAYERS
from storage.lists import commissions, partners
from storage.management import by_hand, commission_decisions, payout_methods, special_terms
from storage.reports import chart
from storage.rules import settings
from storage.rules.attribution import PartnerStatus, site_url
from storage.rules.click_details import CAMPAIGN
from storage.rules.commission import CommissionStatus, TermsOf
from storage.rules.errors import ValidationError
from tracking_api.dashboard import partner_portal
from tracking_api.dashboard.pages import charted, forms, page_context, ranges, text
from tracking_api.dashboard.pages.buttons import Button, FormOutcome, FormPage, drawn, elsewhere
from tracking_api.dashboard.pages.lists import ListPage
from tracking_api.dashboard.partner_portal import change_payout_method

PROGRAM = "/programs/{program_id}"
LINK = ("page", "campaign")
LONGEST_PAGE = 1000
LONGEST_CAMPAIGN = 100


class HoldOverride(changes.CommissionChange):
    """The approval of a commission that is on hold."""

    override_hold_reason: Name


class PartnerEdit(changes.PartnerChange):
    """The fields of the form."""

    notes: Annotated[str, StringConstraints(max_length=4000)] | None = None


async def _page(context: page_context.PageContext, outcome: FormOutcome) -> dict[str, Any]:
    request, partner_id = context.request, context.path_id("partner_id")
    picker = ranges.picker(request, context.at)
    profile = await context.report(chart.read_profile, partner_id, picker.picked, at=context.at)
    results, partner = profile.pop("results"), profile["partner"]
    link, asked, link_problems = asked_link(request, context.program.settings.domain, partner.code)
    stored = {name: value or "" for name, value in partner._asdict().items()}
    minimum = partner.minimum_payout_cents
    stored["minimum_payout"] = "" if minimum is None else str(text.major(minimum, context.currency))
    return {
        "stored": stored,
        "status": 400 if outcome.problems or picker.problem or link_problems else 200,
        **profile,
        "charted": charted.of(results, picker),
        "adjustments": await context.read(by_hand.list_adjustments, partner_id),
        "link": link,
        "asked": asked,
        "link_problems": link_problems,
        "applied": special_terms.settings_of(context.program.settings, partner.terms),
        **await _terms_forms(context, partner, outcome),
        "statuses": list(PartnerStatus),
        "method": await context.read(payout_methods.find_method, partner_id),
        "picker": picker,
    }


async def _terms_forms(
    context: page_context.PageContext, partner: partners.Partner, outcome: FormOutcome
) -> dict[str, Any]:
    """Return what the forms have of the terms of a partner and of their group: no rate where these have none."""
    forms_of = {"terms": (partner.terms, TermsOf.PARTNER)}
    if partner.group is not None:
        of_group = await context.read(special_terms.terms_of_group, partner.group)
        forms_of["group-terms"] = (of_group, TermsOf.GROUP)
    shown: dict[str, Any] = {}
    for action, (terms, whose) in forms_of.items():
        values = settings.published(special_terms.settings_of(context.program.settings, terms))
        stored = forms.of_settings(special_terms.REPLACING, values, context.currency)
        stored |= {"currency": context.currency, "group": partner.group or ""}
        if terms is None or terms.whose != whose:
            stored["commission_rate"] = ""
        is_typed = outcome.pressed.removeprefix("price-") == action
        shown[action] = {"currency": context.currency, **outcome.typed} if is_typed else stored
    return {"terms_settings": special_terms.REPLACING, "terms_forms": shown}


def asked_link(request: Request, domain: str, code: str) -> tuple[str, dict[str, str], dict[str, str]]:
    """Return a partner's link to the page that a form names, what was typed, and what is wrong with it, if it is."""
    asked = {name: request.query_params.get(name, "").strip() for name in LINK}
    try:
        return link_of(domain, code, **asked), asked, {}
    except ValidationError as rejection:
        return link_of(domain, code), asked, forms.problems_of(rejection)


def link_of(domain: str, code: str, page: str = "", campaign: str = "") -> str:
    """Return a partner's link to a page of the shop (its path, or its URL). Raises ValidationError."""
    shop, parts = urlsplit(site_url(domain)), urlsplit(page)
    if (
        len(page) > LONGEST_PAGE
        or not page.isprintable()
        or (parts.scheme, parts.netloc) not in {("", ""), ("http", shop.netloc), ("https", shop.netloc)}
    ):
        raise ValidationError.of("page", f"Enter a page of {domain}, such as /pricing")
    if len(campaign) > LONGEST_CAMPAIGN or not campaign.isprintable():
        raise ValidationError.of("campaign", f"Use at most {LONGEST_CAMPAIGN} letters or digits")
    tags = urlencode({"aff": code} | ({CAMPAIGN: campaign} if campaign else {}), quote_via=quote, safe="")
    path = "/" + quote(parts.path.lstrip("/"), safe="/%:@!$&'()*+,;=~")
    return urlunsplit((shop.scheme, shop.netloc, path, "&".join(filter(None, [parts.query, tags])), parts.fragment))


async def show_qr_code(request: Request) -> Response:
    """Return a link's QR code, dark on white, which cameras read on dark pages. Raises NotFound, ValidationError."""
    context = await page_context.as_member(request)
    partner = await context.get(partners.PARTNERS, "partner_id")
    return qr_image(request, context.program.settings.domain, partner.code)


def qr_image(request: Request, domain: str, code: str) -> Response:
    """Return the QR code of a partner's link to the page that the URL names. Raises ValidationError."""
    link = link_of(domain, code, *(request.query_params.get(name, "") for name in LINK))
    image = io.BytesIO()
    segno.make(link, micro=False).save(image, kind="svg", scale=6, light="white")
    headers = {"Content-Disposition": f'inline; filename="{quote(code)}.svg"'}
    return Response(image.getvalue(), media_type="image/svg+xml", headers=headers)


async def _commission(context: page_context.PageContext, _: FormOutcome) -> dict[str, Any]:
    details = await context.read(commissions.get_details, context.path_id("commission_id"), at=context.at)
    return {"details": details}


PARTNER_LIST = ListPage(partners.PARTNERS, "partners.html", sort="revenue")
ENROL = FormPage(PARTNER_LIST.page, Button(changes.enrol_partner), roles=MANAGERS)
PAGE = FormPage(
    drawn("partner.html", _page),
    {
        "edit": Button(changes.change_partner.taking(PartnerEdit)),
        "terms": Button(changes.set_partner_terms, roles=OWNERS),
        "price-terms": Button(backtests.price_partner_terms, is_trial=True, roles=OWNERS),
        "group-terms": Button(changes.set_group_terms, roles=OWNERS),
        "price-group-terms": Button(backtests.price_group_terms, is_trial=True, roles=OWNERS),
        "add-coupon": Button(changes.create_coupon),
        "end-coupon": Button(changes.end_coupon),
        "adjust": Button(changes.adjust_balance, roles=DECIDERS),
        "method": Button(change_payout_method, notice="method-changed", roles=PAYERS),
        "release": Button(payouts.release_payout_method, notice="method-released", roles=OWNERS),
        "invite": Button(partner_portal.invite_to_portal),
        "revoke": Button(partner_portal.revoke_portal),
    },
    roles=MANAGERS,
)
STATUS = FormPage(
    elsewhere,
    dict.fromkeys(PartnerStatus, Button(changes.change_partner, {}, "partner-{status}.{id}", f"{PROGRAM}/partners"))
    | {"invite": Button(partner_portal.mail_invitation, {}, "partners-invite.1.0", f"{PROGRAM}/partners")},
    by="status",
    roles=MANAGERS,
    row="partner_id",
    said="partners",
)
COMMISSION = FormPage(
    drawn("commission.html", _commission),
    Button(
        changes.decide_commission.taking(HoldOverride),
        {"status": CommissionStatus.APPROVED},
        lambda call, _: f"approved.1.0.{commission_decisions.millis_of(call.at)}",
    ),
    roles=DECIDERS,
)
