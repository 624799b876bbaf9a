"""GET /api/agent/v1/programs/:id/explain: why a sale was credited or not."""

from agent_api.call import Call
from storage.explain import explain
from web import diagnosis, queries
from web.answer import Answer

IDENTIFIERS = ("transaction_id", "customer_key", "click_id")


async def show(call: Call) -> Answer:
    """Explain the sale, customer or click that one of the identifiers names."""
    named = {name: queries.text(call.request, name) for name in IDENTIFIERS}
    found = await call.storage.read(explain, call.program_id, **named, at=call.at)
    return Answer(diagnosis.explanation(found))
