"""GET /api/agent/v1/programs/:id/customers and .../customers/:customerId."""

from agent_api.call import Call
from storage import customer_list
from storage.rules.settlement import CustomerStatus
from web import queries, resources
from web.answer import Answer


async def index(call: Call) -> Answer:
    """List the program's customers; `?status=`, `?partner_id=` and `?customer_key=` narrow it."""
    found = await call.storage.read(
        customer_list.listed,
        call.program_id,
        queries.paging(call.request),
        status=queries.choice(call.request, "status", CustomerStatus),
        partner_id=queries.number(call.request, "partner_id"),
        customer_key=queries.text(call.request, "customer_key"),
    )
    return Answer(resources.page(found, resources.customer))


async def show(call: Call) -> Answer:
    """Show one customer with their trail."""
    found = await call.storage.read(customer_list.one, call.program_id, call.named("customer_id"))
    return Answer(resources.trail(found))
