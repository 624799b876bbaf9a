"""What agent keys may change of a program: GET|PATCH /api/programs/:id/agent-caps, and the page."""

from starlette.responses import Response

from presentation.api_request import ApiRequest
from presentation.changes import AgentCapsChange
from presentation.operations import operation
from presentation.settings_models import shown, with_settings
from presentation.view import View
from storage.management import agent_caps
from storage.rules.agent_caps import CAPS, FREEZABLE, SECTIONS
from storage.rules.settings import BY_NAME, published
from tracking_api.dashboard.pages import values
from tracking_api.dashboard.pages.buttons import Button, FormOutcome, FormPage
from tracking_api.dashboard.pages.page_context import PageContext

BY_SECTION = {section: [cap for cap in CAPS if cap.section == section] for section in SECTIONS}
NAMES = [(name, BY_NAME[name].label) for name in FREEZABLE]


@with_settings(shown, CAPS)
class AgentCapsView(View):
    """The caps of a program's agent keys; amounts are in cents of the program's currency."""


@operation()
async def get_agent_caps(call: ApiRequest) -> AgentCapsView:
    """Return the caps of the program's agent keys."""
    return AgentCapsView(**published(await call.read(agent_caps.get_caps), CAPS))


@operation(notice="caps-changed")
async def change_agent_caps(call: ApiRequest, sent: AgentCapsChange) -> AgentCapsView:
    """Change the caps of the program's agent keys."""
    return AgentCapsView(**published(await call.write(agent_caps.change, sent.sent()), CAPS))


async def _page(context: PageContext, outcome: FormOutcome) -> Response:
    caps = published(await context.read(agent_caps.get_caps), CAPS)
    shown = outcome.typed or values.of_settings(CAPS, caps, context.currency)
    typed = {**shown, "currency": context.currency}
    return outcome.page(context, "agent_caps.html", typed=typed, sections=BY_SECTION, names=NAMES)


PAGE = FormPage(_page, Button(change_agent_caps))
