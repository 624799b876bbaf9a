"""GET /api/programs/:id/customers and .../customers/:customerId."""

from starlette.requests import Request

from storage import customer_list
from storage.rules.settlement import CustomerStatus
from tracking_api.dashboard import authentication
from tracking_api.dashboard.authentication import storage_of
from web import queries, resources
from web.answer import Answer


async def index(request: Request) -> Answer:
    """List the program's customers; `?status=`, `?partner_id=` and `?customer_key=` narrow it."""
    member = await authentication.member(request)
    found = await storage_of(request).read(
        customer_list.listed,
        member.program_id,
        queries.paging(request),
        status=queries.choice(request, "status", CustomerStatus),
        partner_id=queries.number(request, "partner_id"),
        customer_key=queries.text(request, "customer_key"),
    )
    return Answer(resources.page(found, resources.customer))


async def show(request: Request) -> Answer:
    """Show one customer with their trail: click, lead, sales, refunds and commissions in time order."""
    member = await authentication.member(request)
    customer_id = authentication.named(request, "customer_id")
    found = await storage_of(request).read(customer_list.one, member.program_id, customer_id)
    return Answer(resources.trail(found))
