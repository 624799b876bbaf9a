"""GET /api/agent/v1/programs/:id/customers and .../customers/:customerId."""

from agent_api.call import AgentRequest
from presentation import queries, resources
from storage.reading import customer_timelines
from storage.rules.settlement import CustomerStatus
from web.response import JsonResponse


async def index(call: AgentRequest) -> JsonResponse:
    """List the program's customers; `?status=`, `?partner_id=` and `?customer_key=` narrow it."""
    found = await call.storage.read(
        customer_timelines.list_customers,
        call.program_id,
        queries.paging(call.request),
        status=queries.choice(call.request, "status", CustomerStatus),
        partner_id=queries.number(call.request, "partner_id"),
        customer_key=queries.text(call.request, "customer_key"),
    )
    return JsonResponse(resources.page(found, resources.customer))


async def show(call: AgentRequest) -> JsonResponse:
    """Show one customer with their trail."""
    found = await call.storage.read(customer_timelines.get_timeline, call.program_id, call.named("customer_id"))
    return JsonResponse(resources.trail(found))
