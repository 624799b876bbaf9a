"""Commissions: first those that are ready to approve; found, added up and exported as CSV."""

from starlette.requests import Request
from starlette.responses import Response

from storage.management.commission_decisions import MOST_TOGETHER
from storage.management.commissions import Commission
from storage.reading import listed_commissions
from storage.reading.listed_commissions import CommissionMatch
from storage.rules.commission import CommissionStatus
from tracking_api.dashboard.authentication import storage_of
from tracking_api.dashboard.pages import csv_export, filters, lists, page_context, templates, text
from tracking_api.dashboard.pages.csv_export import Read
from tracking_api.dashboard.pages.lists import Column, List, ListState
from tracking_api.dashboard.pages.page_context import PageContext

READY, ALL = "ready", "all"


LIST = List(
    "Commissions",
    (
        Column("created", "Earned", sort=""),
        Column("partner", "Partner", sort="partner"),
        Column("cause", "For"),
        Column("status", "Status"),
        Column("hold", "Hold until", sort="hold_until", is_day=True),
        Column("net", "Commission", sort="net", is_figure=True, total="money"),
    ),
    search="Partner, customer key or transaction id",
    kept=("partner_id",),
    tabs=("status",),
)
HEADER = [
    *("id", "created_at", "partner", "partner_code", "customer_key", "transaction_id", "status"),
    *("earned", "net", "currency", "hold_until", "paid_at"),
]


async def list_commissions(request: Request) -> Response:
    """List the commissions that are ready to approve, or those of another status."""
    context = await page_context.as_member(request)
    state = lists.state(request, LIST)
    listed = await _read(request, context, state)(state.query)
    statuses = list(CommissionStatus)
    return templates.render(
        request, "commissions.html", context=context, list=state.holding(listed), statuses=statuses, most=MOST_TOGETHER
    )


async def export_commissions(request: Request) -> Response:
    """Return the commissions of the filtered list as a CSV file."""
    context = await page_context.as_member(request)
    name = f"commissions-{context.program.id}-{context.at:%Y-%m-%d}"
    return csv_export.file(name, _read(request, context, lists.state(request, LIST)), HEADER, _cells)


def match_of(request: Request, context: PageContext, state: ListState) -> CommissionMatch:
    """Return what the commissions of the list have to match. Raises ValidationError for unknown filters."""
    shown = state.address["status"] or READY
    return CommissionMatch(
        search=state.search,
        status=None if shown in {READY, ALL} else filters.choice(request, "status", CommissionStatus),
        partner_id=filters.number(request, "partner_id"),
        ready_at=context.at if shown == READY else None,
        created=state.span,
    )


def _read(request: Request, context: PageContext, state: ListState) -> Read[Commission]:
    read, match = storage_of(request).read, match_of(request, context, state)
    return lambda query: read(listed_commissions.read, context.program.id, query, match)


def _cells(each: Commission) -> list[object]:
    return [
        *(each.id, each.created_at, each.partner_name, each.partner_code, each.customer_key, each.transaction_id),
        *(each.status, *(text.major(cents, each.currency) for cents in (each.amount_cents, each.net_cents))),
        *(each.currency, each.hold_until, each.paid_at),
    ]
