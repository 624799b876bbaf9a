"""GET /api/agent/v1/programs/:id/refused-calls: keyed calls that were refused in the last 30 days."""

from agent_api.call import AgentRequest
from presentation import queries, resources
from storage.reading import rejected_calls
from web.response import JsonResponse


async def index(call: AgentRequest) -> JsonResponse:
    """List the program's refused calls; `?code=` narrows it."""
    code = queries.text(call.request, "code")
    found = await call.storage.read(rejected_calls.list_calls, call.program_id, queries.paging(call.request), code=code)
    return JsonResponse(resources.page(found, resources.refused_call))
