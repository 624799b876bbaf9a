"""Customers: found, sorted, added up and exported as CSV."""

from starlette.requests import Request
from starlette.responses import Response

from storage.reading import listed_customers
from storage.reading.customer_timelines import CustomerFilter
from storage.reading.listed_customers import ListedCustomer
from storage.rules.settlement import CustomerStatus
from tracking_api.dashboard.authentication import storage_of
from tracking_api.dashboard.pages import csv_export, filters, lists, page_context, templates, text
from tracking_api.dashboard.pages.csv_export import Read
from tracking_api.dashboard.pages.lists import Choice, Column, List, ListState
from tracking_api.dashboard.pages.page_context import PageContext

LIST = List(
    "Customers",
    (
        Column("customer", "Customer", sort="customer_key"),
        Column("status", "Status"),
        Column("partner", "Sent by"),
        Column("signup", "Signed up", sort="signup", is_day=True),
        Column("first_purchase", "First purchase", sort="first_purchase", is_day=True),
        Column("sales", "Sales", sort="sales", is_figure=True, total="number"),
        Column("revenue", "Revenue", sort="revenue", is_figure=True, total="money"),
        Column("refunded", "Refunded", sort="refunded", is_figure=True, total="money"),
    ),
    search="Customer key, e-mail address or partner",
    choices=(Choice("status", "Status", text.pairs(CustomerStatus)),),
    kept=("partner_id", "customer_key"),
)
HEADER = [
    *("id", "created_at", "customer_key", "email_masked", "click_id", "status", "partner", "partner_code"),
    *("clicked_at", "signup_at", "first_purchase_at", "sales", "revenue", "refunded", "currency"),
]


async def list_customers(request: Request) -> Response:
    """List the customers."""
    context = await page_context.as_member(request)
    state = lists.state(request, LIST)
    listed = await _read(request, context, state)(state.query)
    return templates.render(request, "customers.html", context=context, list=state.holding(listed))


async def export_customers(request: Request) -> Response:
    """Return the customers of the filtered list as a CSV file."""
    context = await page_context.as_member(request)
    name = f"customers-{context.program.id}-{context.at:%Y-%m-%d}"
    read = _read(request, context, lists.state(request, LIST))
    return csv_export.file(name, read, HEADER, lambda each: _cells(each, context.currency))


def _read(request: Request, context: PageContext, state: ListState) -> Read[ListedCustomer]:
    """Return how a page of the list is read. Raises ValidationError for an unknown status or partner."""
    match = CustomerFilter(
        filters.choice(request, "status", CustomerStatus),
        filters.number(request, "partner_id"),
        filters.text(request, "customer_key"),
        created=state.span,
    )
    read = storage_of(request).report
    return lambda query: read(listed_customers.read, context.program.id, query, match, search=state.search)


def _cells(each: ListedCustomer, currency: str) -> list[object]:
    row = each.customer
    return [
        *(row.id, row.created_at, row.customer_key, row.email_mask, row.click_id, row.status, row.partner_name),
        *(row.partner_code, row.clicked_at, row.signup_at, row.first_purchase_at, row.sales),
        *(*(text.major(cents, currency) for cents in (each.revenue_cents, each.refunded_cents)), currency),
    ]
