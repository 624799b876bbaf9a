"""GET|PATCH /api/programs/:id/agent-caps: what agent keys may change of a program, read by members, set by owners."""

from typing import Self

from presentation.actions import action
from presentation.api_request import ApiRequest
from presentation.changes import AgentCapsChange
from presentation.operations import operation
from presentation.settings_models import shown, with_settings
from presentation.view import View
from storage.management import agent_caps
from storage.rules.agent_caps import CAPS, AgentCaps
from web.response import ModelResponse


@with_settings(shown, CAPS)
class AgentCapsView(View):
    """The caps of a program's agent keys; amounts are in cents of the program's currency."""

    @classmethod
    def of(cls, row: AgentCaps) -> Self:
        """Return the view of the caps."""
        return cls(**agent_caps.published(row))


@operation("The caps of the program's agent keys")
async def get_agent_caps(call: ApiRequest) -> ModelResponse[AgentCapsView]:
    """Return the caps: what an owner set, or the defaults."""
    return ModelResponse(AgentCapsView.of(await call.read(agent_caps.get_caps)))


@action("Change the caps of the program's agent keys", notice="caps-changed")
async def change_agent_caps(call: ApiRequest, sent: AgentCapsChange) -> ModelResponse[AgentCapsView]:
    """Change the caps that are sent; the audit log names each change."""
    return ModelResponse(AgentCapsView.of(await call.write(agent_caps.change, sent.sent())))
