"""The caps of a program's agent keys: members read them, owners change them."""

from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from storage.management import agent_caps
from storage.rules.agent_caps import CAPS, FREEZABLE, SECTIONS
from storage.rules.settings import BY_NAME
from tracking_api.dashboard.agent_caps import change_agent_caps
from tracking_api.dashboard.pages import buttons, page_context, templates, values
from tracking_api.dashboard.pages.buttons import Button, FormOutcome
from tracking_api.dashboard.pages.page_context import PageContext

BY_SECTION = {section: [cap for cap in CAPS if cap.section == section] for section in SECTIONS}
NAMES = [(name, BY_NAME[name].label) for name in FREEZABLE]
CHANGE = Button(change_agent_caps)


async def show_caps(request: Request) -> Response:
    """Show the caps."""
    return await _page(await page_context.as_member(request), FormOutcome())


async def change_caps(request: Request) -> Response:
    """Save the caps. An error appears beside its field, and then nothing is saved."""
    context = await page_context.as_owner(request)
    return await buttons.press(CHANGE, context, partial(_page, context), context=context)


async def _page(context: PageContext, outcome: FormOutcome) -> Response:
    caps = agent_caps.published(await context.read(agent_caps.get_caps))
    shown = outcome.shown(values.of_settings(CAPS, caps, context.currency))
    shown["typed"] = {**shown["typed"], "currency": context.currency}
    about: dict[str, Any] = {"context": context, "sections": BY_SECTION, "names": NAMES}
    return templates.render(context.request, "agent_caps.html", **about, **shown)
