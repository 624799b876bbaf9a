"""Partners: each with their referral link and results; owners add, pause and resume them."""

from typing import NamedTuple
from urllib.parse import quote

from pydantic_core import to_json
from starlette.requests import Request
from starlette.responses import Response

from presentation import host_name
from presentation.api_request import path_id
from presentation.changes import NewPartner
from storage.engine.listing import Listed, ListQuery
from storage.management import balances, partners
from storage.management.balances import PartnerBalance
from storage.reading import listed_partners
from storage.reading.listed_partners import ListedPartner, PartnerMatch
from storage.reports import performance
from storage.rules.attribution import PartnerStatus
from storage.rules.errors import ValidationError
from storage.rules.periods.picked_period import PickedPeriod
from tracking_api.dashboard.authentication import storage_of
from tracking_api.dashboard.pages import (
    csv_export,
    filters,
    forms,
    lists,
    notices,
    page_context,
    ranges,
    templates,
    text,
    values,
)
from tracking_api.dashboard.pages.csv_export import Read
from tracking_api.dashboard.pages.forms import Problems
from tracking_api.dashboard.pages.lists import Choice, Column, List, ListState
from tracking_api.dashboard.pages.page import redirect
from tracking_api.dashboard.pages.page_context import PageContext
from web import body

SAID = {PartnerStatus.ACTIVE: "partner-active", PartnerStatus.PAUSED: "partner-paused"}


LIST = List(
    "Partners",
    (
        Column("partner", "Partner", sort="name"),
        Column("status", "Status"),
        Column("clicks", "Clicks", sort="clicks", is_figure=True, total="number"),
        Column("leads", "Leads", sort="leads", is_figure=True, total="number"),
        Column("conversions", "Conv.", sort="conversions", is_figure=True, total="number"),
        Column("revenue", "Revenue", sort="revenue_cents", is_figure=True, total="money"),
        Column("commission", "Commission", sort="commission_cents", is_figure=True, total="money"),
        Column("to_pay", "To pay", sort="to_pay", is_figure=True, total="money"),
    ),
    search="Name, code or e-mail address",
    choices=(Choice("status", "Status", text.pairs(PartnerStatus)),),
    period=PickedPeriod.THIRTY_DAYS,
)
HEADER = [
    *("id", "created_at", "name", "code", "email", "status", "link"),
    *("clicks", "leads", "conversions", "revenue", "commission", "to_pay", "currency"),
]


class PartnerInList(NamedTuple):
    """A partner with what they brought in the period, their link and what to pay them now."""

    listed: ListedPartner
    link: str
    balance: PartnerBalance


async def list_partners(request: Request) -> Response:
    """List the partners with what they brought in the period."""
    return await _list(request, await page_context.as_member(request), {}, Problems())


async def export_partners(request: Request) -> Response:
    """Return the partners of the filtered list, with their figures of the period, as a CSV file."""
    context = await page_context.as_member(request)
    read = await _reader(request, context, lists.state(request, LIST))
    name = f"partners-{context.program.id}-{context.at:%Y-%m-%d}"
    return csv_export.file(name, read, HEADER, lambda each: _cells(each, context.currency))


async def enrol_partner(request: Request) -> Response:
    """Add a partner; an error appears beside its field."""
    context = await page_context.as_owner(request)
    form = await forms.read_form(request)
    try:
        fields = {"name": form.text("name"), "code": form.text("code"), "email": form.text("email") or None}
        sent = body.parse(NewPartner, to_json(fields)).sent()
        await page_context.change(request, context, partners.enrol, **sent)
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
    partner_id = path_id(request, "partner_id")
    await page_context.change(request, context, partners.change, partner_id, {"status": status})
    return notices.leave(redirect(f"{context.program_path}/partners"), SAID[status], partner_id)


def referral_link(context: PageContext, code: str) -> str:
    """Return a partner's referral link."""
    return f"{host_name.url_of(context.program.settings.domain)}/?aff={quote(code, safe='')}"


async def _list(request: Request, context: PageContext, typed: dict[str, str], problems: Problems) -> Response:
    state = lists.state(request, LIST)
    listed = await (await _reader(request, context, state))(state.query)
    shown = {"list": state.holding(listed), "typed": typed, "problems": problems}
    return templates.render(request, "partners.html", status=400 if problems else 200, context=context, **shown)


async def _reader(request: Request, context: PageContext, state: ListState) -> Read[PartnerInList]:
    """Return how a page of the list is read. Raises ValidationError for an unknown status."""
    storage, program_id, query = storage_of(request), context.program.id, ranges.requested(request, context.at).query
    _, chosen = await storage.report(performance.choose_period, program_id, query, at=context.at)
    match = PartnerMatch(state.search, filters.choice(request, "status", PartnerStatus))

    async def read(query: ListQuery) -> Listed[PartnerInList]:
        listed = await storage.report(listed_partners.read, program_id, query, match, chosen.window)
        shown = [each.partner.id for each in listed.data]
        owed = await storage.read(balances.of_partners, program_id, shown, at=context.at)
        rows = [
            PartnerInList(each, referral_link(context, each.partner.code), owed[each.partner.id])
            for each in listed.data
        ]
        return Listed(rows, *listed[1:])

    return read


def _cells(each: PartnerInList, currency: str) -> list[object]:
    partner, clicks, leads, conversions, *cents = each.listed
    return [
        *(partner.id, partner.created_at, partner.name, partner.code, partner.email, partner.status, each.link),
        *(clicks, leads, conversions),
        *(text.major(amount, currency) for amount in (*cents, each.balance.to_pay_cents)),
        currency,
    ]
