"""Partners and what they earn: the list, a partner's results, links, balance and edits, a commission's arithmetic."""

import io
from functools import partial
from typing import Annotated
from urllib.parse import quote, urlencode, urlsplit, urlunsplit

import segno
from pydantic import StringConstraints
from starlette.requests import Request
from starlette.responses import Response

from presentation import changes
from presentation.settings_models import Name
from storage.access.workspaces import DECIDERS, MANAGERS
from storage.lists import commissions, find, partners
from storage.management import by_hand, commission_decisions
from storage.reports import chart
from storage.rules.attribution import PartnerStatus, site_url
from storage.rules.click_details import CAMPAIGN
from storage.rules.commission import CommissionStatus, CommissionType
from storage.rules.errors import FieldError, ValidationError
from storage.rules.settings import ProgramSettings
from storage.tracking.ledger import EntryKind
from tracking_api.dashboard.pages import charted, forms, page_context, ranges, text
from tracking_api.dashboard.pages.buttons import Button, FormOutcome, FormPage, elsewhere
from tracking_api.dashboard.pages.lists import ListPage

PROGRAM = "/programs/{program_id}"
PARTNER = PROGRAM + "/partners/{partner_id}"
EDITED = ("name", "code", "email", "status", "notes")
LINK = ("page", "campaign")
LONGEST_PAGE = 1000
LONGEST_CAMPAIGN = 100
ENTRIES = {
    EntryKind.COMMISSION: "Earned",
    EntryKind.REVERSAL: "Taken back: a refund, or the customer was moved",
    EntryKind.REINSTATEMENT: "Given back: a refund or dispute was undone, or the customer was moved here",
    EntryKind.REJECTION: "Taken back: rejected",
    EntryKind.PAYOUT: "Paid out",
    EntryKind.SET_OFF: "Set off against refunds of paid commissions",
    EntryKind.ADJUSTMENT: "Adjusted",
}


class HoldOverride(changes.CommissionChange):
    """The approval of a commission that is on hold."""

    override_hold_reason: Name


class PartnerEdit(changes.PartnerChange):
    """The fields of the form."""

    notes: Annotated[str, StringConstraints(max_length=4000)] | None = None


async def _page(context: page_context.PageContext, outcome: FormOutcome) -> Response:
    request, partner_id = context.request, context.path_id("partner_id")
    picker = ranges.picker(request, context.at)
    profile = await context.report(chart.read_profile, partner_id, picker.picked, at=context.at)
    results = profile.pop("results")
    asked = {name: request.query_params.get(name, "").strip() for name in LINK}
    link_to = partial(link_of, context.program.settings.domain, profile["partner"].code)
    link_problems = {}
    try:
        link = link_to(**asked)
    except ValidationError as rejection:
        link, link_problems = link_to(), forms.problems_of(rejection)
    stored = {name: getattr(profile["partner"], name) or "" for name in EDITED}
    return outcome.page(
        context,
        "partner.html",
        stored=stored,
        edited=outcome.typed if "name" in outcome.typed else stored,
        status=400 if outcome.problems or picker.problem or link_problems else 200,
        **profile,
        charted=charted.of(results, picker),
        adjustments=await context.read(by_hand.list_adjustments, partner_id),
        link=link,
        asked=asked,
        link_problems=link_problems,
        terms=_terms_of(context.program.settings),
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
    """Return a link's QR code, dark on white, which cameras read on dark pages. Raises NotFound, ValidationError."""
    context = await page_context.as_member(request)
    partner = await context.storage.read(find.get, partners.PARTNERS, context.scope, context.path_id("partner_id"))
    asked = (request.query_params.get(name, "") for name in LINK)
    link = link_of(context.program.settings.domain, partner.code, *asked)
    image = io.BytesIO()
    segno.make(link, micro=False).save(image, kind="svg", scale=6, light="white")
    headers = {"Content-Disposition": f'inline; filename="{quote(partner.code)}.svg"'}
    return Response(image.getvalue(), media_type="image/svg+xml", headers=headers)


async def _commission(context: page_context.PageContext, outcome: FormOutcome) -> Response:
    details = await context.read(commissions.get_details, context.path_id("commission_id"), at=context.at)
    arithmetic = _arithmetic(details)
    return outcome.page(context, "commission.html", details=details, arithmetic=arithmetic, meanings=ENTRIES)


def _arithmetic(details: commissions.CommissionDetails) -> list[tuple[str, str]]:
    """Return the steps from the sale or the lead to what the commission is worth now: titles and texts."""
    commission, sale = details.commission, details.sale
    currency = commission.currency
    earned = text.money(commission.amount_cents, currency)
    steps = [("Lead", f"{earned} for each settled lead")]
    if sale is not None:
        amount = text.money(sale.program_cents, currency)
        steps = [("Sale", text.money(sale.amount_cents, sale.currency))]
        if sale.currency != currency:
            steps.append((f"In {currency}", f"{amount}, by the exchange rate of the sale's day"))
        is_percent = details.terms.type == CommissionType.PERCENT
        basis_cents = details.terms.basis_cents(sale, sale.program_cents)
        if is_percent and basis_cents != sale.program_cents:
            amount = text.money(basis_cents, currency)
            steps.append(("Without tax and shipping", amount))
        rate = _rate(details.terms.type, details.terms.rate, currency)
        steps.append(("Earned", f"{rate} of {amount} = {earned}" if is_percent else f"{earned} for each sale"))
    taken = commission.amount_cents - commission.net_cents
    if taken:
        steps.append(("Taken back", text.money(-taken, currency)))
    return [*steps, ("Worth now", text.money(commission.net_cents, currency))]


def _terms_of(settings: ProgramSettings) -> list[tuple[str, str]]:
    """Return what a program's partners earn, as pairs of a title and a text."""
    currency, months = settings.currency, settings.recurring_months
    later = "as long as they buy" if months is None else f"for {months} months after the first" if months else "none"
    return [
        ("Commission on a sale", _rate(settings.commission_type, settings.rate, currency)),
        ("On later sales of a customer", later),
        ("Commission on a lead", text.money(settings.lead_commission_cents, currency)),
        ("Smallest order that earns", text.money(settings.minimum_order_cents, currency)),
        ("Hold", f"{settings.hold_days} days"),
        ("Attribution window", f"{settings.attribution_window_days} days after the click"),
    ]


def _rate(kind: CommissionType, value: int, currency: str) -> str:
    """Return a commission rate: 20%, or an amount."""
    return text.percentage(value / 100) if kind == CommissionType.PERCENT else text.money(value, currency)


PARTNER_LIST = ListPage(partners.PARTNERS, "partners.html", sort="revenue")
ENROL = FormPage(PARTNER_LIST.page, Button(changes.enrol_partner), roles=MANAGERS)
EDIT = FormPage(_page, Button(changes.change_partner.taking(PartnerEdit), then=PARTNER), roles=MANAGERS)
ADJUST = FormPage(_page, Button(changes.adjust_balance, then=PARTNER), roles=DECIDERS)
PAUSE = FormPage(
    elsewhere,
    Button(changes.change_partner, notice="partner-{status}.{id}", then=f"{PROGRAM}/partners"),
    by="status",
    roles=MANAGERS,
    row="partner_id",
    said="partners",
)
COMMISSION = FormPage(
    _commission,
    Button(
        changes.decide_commission.taking(HoldOverride),
        {"status": CommissionStatus.APPROVED},
        lambda call, _: f"approved.1.0.{commission_decisions.millis_of(call.at)}",
    ),
    roles=DECIDERS,
)
