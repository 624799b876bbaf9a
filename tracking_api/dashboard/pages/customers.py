"""The list of customers."""

from starlette.requests import Request
from starlette.responses import Response

from presentation import queries
from storage.reading import customer_timelines
from storage.reading.customer_timelines import CustomerFilter
from storage.rules.settlement import CustomerStatus
from tracking_api.dashboard.authentication import storage_of
from tracking_api.dashboard.pages import filters, page_context, templates


async def list_customers(request: Request) -> Response:
    """List the customers; status, partner and key narrow it."""
    context = await page_context.as_member(request)
    chosen = filters.chosen(request, "status", "partner_id", "customer_key")
    page = await storage_of(request).report(
        customer_timelines.list_customers,
        context.program.id,
        queries.paging(request),
        CustomerFilter(
            filters.choice(request, "status", CustomerStatus),
            filters.number(request, "partner_id"),
            filters.text(request, "customer_key"),
        ),
    )
    statuses = list(CustomerStatus)
    return templates.render(request, "customers.html", context=context, page=page, chosen=chosen, statuses=statuses)
