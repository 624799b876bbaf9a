"""GET /programs/:id/customers and .../customers/:customerId."""

from presentation import queries
from presentation.api_request import ApiRequest
from presentation.operations import operation
from presentation.resources import CustomerTimelineView, CustomerView
from presentation.view import PageView, page
from storage.reading import customer_timelines
from storage.reading.customer_timelines import CustomerFilter
from storage.rules.settlement import CustomerStatus
from web.response import ModelResponse

FILTERS = {
    "status": "provisional, lead or conversion.",
    "partner_id": "Only this partner's.",
    "customer_key": "Only the customer with this key.",
    **queries.DATES,
}


@operation("The customers", query=FILTERS)
async def list_customers(call: ApiRequest) -> ModelResponse[PageView[CustomerView]]:
    """List the program's customers; `?status=`, `?partner_id=`, `?customer_key=` and dates narrow it."""
    stored = await call.report(
        customer_timelines.list_customers,
        queries.paging(call.request),
        CustomerFilter(
            queries.choice(call.request, "status", CustomerStatus),
            queries.number(call.request, "partner_id"),
            queries.text(call.request, "customer_key"),
            created=queries.span(call.request),
        ),
    )
    return page(stored, CustomerView)


@operation("One customer with their timeline: click, lead, sales, refunds and commissions")
async def get_customer(call: ApiRequest) -> ModelResponse[CustomerTimelineView]:
    """Return one customer with their timeline."""
    timeline = await call.report(customer_timelines.get_timeline, call.path_id("customer_id"))
    return ModelResponse(CustomerTimelineView.timeline(timeline))
