"""GET /api/agent/v1/me: the name, scopes and programs of the agent key."""

from datetime import datetime

from agent_api.call import AgentRequest
from presentation.operations import operation
from presentation.view import View
from storage.rules.scope import Scope
from web.response import ModelResponse


class AgentKeyView(View):
    """The agent key; `programs` null means every program of the workspace."""

    id: int
    name: str
    workspace_id: int
    scopes: list[Scope]
    programs: list[int] | None
    expires_at: datetime | None
    created_at: datetime


@operation("The presented key, its scopes and its programs")
async def get_key(call: AgentRequest) -> ModelResponse[AgentKeyView]:
    """Return the agent key."""
    return ModelResponse(AgentKeyView.of(call.key._asdict() | {"programs": call.key.program_ids}))
