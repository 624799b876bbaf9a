"""GET /api/agent/v1/programs/:id/readiness: what stands between the program and its first credited sale."""

from agent_api.call import AgentRequest
from presentation import diagnosis
from storage.diagnosis import readiness
from web.response import JsonResponse


async def show(call: AgentRequest) -> JsonResponse:
    """Show the gates, the blocker and the identifiers' health."""
    found = await call.storage.read(readiness.check_readiness, call.program_id, at=call.at)
    return JsonResponse(diagnosis.readiness(found))
