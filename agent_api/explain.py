"""GET /api/agent/v1/programs/:id/explain: why a sale was credited or not."""

from agent_api.call import Call
from storage.explain import explain
from web import diagnosis
from web.answer import Answer


async def show(call: Call) -> Answer:
    """Explain the sale, customer or click that one of the identifiers names."""
    found = await call.storage.read(explain, call.program_id, **diagnosis.asked(call.request), at=call.at)
    return Answer(diagnosis.explanation(found))
