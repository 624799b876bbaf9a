"""GET /api/agent/v1/me: what the presented key is and may do."""

from agent_api.call import AgentRequest
from web.response import JsonResponse


async def show(call: AgentRequest) -> JsonResponse:
    """Show the key; `programs` null reaches every program of the workspace."""
    key = call.key
    return JsonResponse(
        {
            "id": key.id,
            "name": key.name,
            "workspace_id": key.workspace_id,
            "scopes": key.scopes,
            "programs": key.program_ids,
            "expires_at": key.expires_at,
            "created_at": key.created_at,
        }
    )
