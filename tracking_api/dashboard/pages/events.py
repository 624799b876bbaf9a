"""The events log. A filter applies at once, and live mode refreshes the list (htmx requests only the list)."""

from starlette.requests import Request
from starlette.responses import Response

from storage.reading import events
from storage.reading.event_kinds import Event, EventKind
from tracking_api.dashboard.authentication import storage_of
from tracking_api.dashboard.pages import csv_export, filters, lists, page_context, templates, text
from tracking_api.dashboard.pages.csv_export import Read
from tracking_api.dashboard.pages.lists import Choice, Column, List, ListState
from tracking_api.dashboard.pages.page_context import PageContext

LIST = List(
    "Events",
    (
        Column("at", "When", sort="", is_time=True),
        Column("kind", "Event", sort="kind"),
        Column("partner", "Partner", sort="partner"),
        Column("customer", "Customer", sort="customer"),
        Column("details", "Details"),
        Column("amount", "Amount", sort="amount", is_figure=True, total="amounts"),
    ),
    search="Partner, customer key or transaction id",
    choices=(Choice("kind", "Kind", text.pairs(EventKind)),),
    tabs=("live",),
)
HEADER = [
    *("kind", "id", "at", "partner_code", "customer_key", "click_id", "transaction_id", "amount", "currency"),
    *("landing_url", "referrer_url"),
]


async def list_events(request: Request) -> Response:
    """List the events; `live` refreshes the list every few seconds."""
    context = await page_context.as_member(request)
    state = lists.state(request, LIST)
    listed = await _read(request, context, state)(state.query)
    template = "event_list.html" if request.headers.get("hx-request") == "true" else "events.html"
    return templates.render(request, template, context=context, list=state.holding(listed))


async def export_events(request: Request) -> Response:
    """Return the events of the filtered list as a CSV file."""
    context = await page_context.as_member(request)
    name = f"events-{context.program.id}-{context.at:%Y-%m-%d}"
    return csv_export.file(name, _read(request, context, lists.state(request, LIST)), HEADER, _cells)


def _read(request: Request, context: PageContext, state: ListState) -> Read[Event]:
    kind, search, span = filters.choice(request, "kind", EventKind), state.search, state.span
    read = storage_of(request).report
    return lambda query: read(events.read, context.program.id, query, kind=kind, search=search, span=span)


def _cells(each: Event) -> list[object]:
    amount = None if each.amount_cents is None or not each.currency else text.major(each.amount_cents, each.currency)
    sent = (each.partner_code, each.customer_key, each.click_id, each.transaction_id, amount, each.currency)
    return [each.kind, each.id, each.at, *sent, each.landing_url, each.referrer_url]
