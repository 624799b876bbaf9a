"""GET /api/programs/:id/customers and .../customers/:customerId."""

from starlette.requests import Request

from presentation import queries, resources
from storage.reading import customer_timelines
from storage.rules.settlement import CustomerStatus
from tracking_api.dashboard import authentication
from tracking_api.dashboard.authentication import storage_of
from web.response import JsonResponse


async def index(request: Request) -> JsonResponse:
    """List the program's customers; `?status=`, `?partner_id=` and `?customer_key=` narrow it."""
    member = await authentication.member(request)
    found = await storage_of(request).read(
        customer_timelines.list_customers,
        member.program_id,
        queries.paging(request),
        status=queries.choice(request, "status", CustomerStatus),
        partner_id=queries.number(request, "partner_id"),
        customer_key=queries.text(request, "customer_key"),
    )
    return JsonResponse(resources.page(found, resources.customer))


async def show(request: Request) -> JsonResponse:
    """Show one customer with their trail: click, lead, sales, refunds and commissions in time order."""
    member = await authentication.member(request)
    customer_id = authentication.named(request, "customer_id")
    found = await storage_of(request).read(customer_timelines.get_timeline, member.program_id, customer_id)
    return JsonResponse(resources.trail(found))
