"""GET /api/agent/v1/programs/:id/audit-log: who changed what, from what to what."""

from agent_api.call import AgentRequest
from presentation import queries, resources
from storage.engine import audit
from web.response import JsonResponse


async def index(call: AgentRequest) -> JsonResponse:
    """List the program's audit log."""
    found = await call.storage.read(audit.list_entries, call.program_id, queries.paging(call.request))
    return JsonResponse(resources.page(found, resources.audit_entry))
