"""GET /api/agent/v1/programs/:id/explain: why a sale was credited or not."""

from agent_api.call import AgentRequest
from presentation import diagnosis
from storage.diagnosis.explanation import explain
from web.response import JsonResponse


async def show(call: AgentRequest) -> JsonResponse:
    """Explain the sale, customer or click that one of the identifiers names."""
    found = await call.storage.read(explain, call.program_id, **diagnosis.asked(call.request), at=call.at)
    return JsonResponse(diagnosis.explanation(found))
