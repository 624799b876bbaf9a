"""The caps of a program's agent keys: members read them, owners change them."""

from typing import Any

from pydantic_core import to_json
from starlette.requests import Request
from starlette.responses import Response

from presentation.changes import AgentCapsChange
from storage.management import agent_caps
from storage.rules.agent_caps import CAPS, FREEZABLE, SECTIONS
from storage.rules.errors import ValidationError
from storage.rules.setting_kinds import Kind, Setting
from storage.rules.settings import BY_NAME
from tracking_api.dashboard.authentication import storage_of
from tracking_api.dashboard.pages import forms, notices, page_context, templates, text, values
from tracking_api.dashboard.pages.forms import Form, Problems
from tracking_api.dashboard.pages.page import redirect
from tracking_api.dashboard.pages.page_context import PageContext
from web import body

BY_SECTION = {section: [cap for cap in CAPS if cap.section == section] for section in SECTIONS}
NAMES = [(name, BY_NAME[name].label) for name in FREEZABLE]


async def show_agent_caps(request: Request) -> Response:
    """Show the caps."""
    context = await page_context.as_member(request)
    caps = agent_caps.published(await storage_of(request).read(agent_caps.get_caps, context.program.id))
    typed = {cap.form_name: _written(cap, caps[cap.public_name], context.currency) for cap in CAPS}
    return _form(request, context, typed, Problems())


async def change_agent_caps(request: Request) -> Response:
    """Save the caps. An error appears beside its field, and then nothing is saved."""
    context = await page_context.as_owner(request)
    form = await forms.read_form(request)
    try:
        sent = {cap.public_name: _value(cap, form, context.currency) for cap in CAPS}
        await page_context.change(
            request, context, agent_caps.change, body.parse(AgentCapsChange, to_json(sent)).sent()
        )
    except ValidationError as rejection:
        problems = Problems({name.removesuffix("_cents"): it for name, it in Problems.of(rejection).items()})
        return _form(request, context, {cap.form_name: " ".join(form.each(cap.form_name)) for cap in CAPS}, problems)
    return notices.leave(redirect(f"{context.program_path}/settings/agent-caps"), "caps-changed")


def _written(cap: Setting, value: Any, currency: str) -> str:
    """Return a cap as people would type it."""
    if cap.kind == Kind.SETTINGS:
        written = " ".join(value)
    elif cap.kind == Kind.SWITCH:
        written = str(value).lower()
    else:
        written = str(text.major(value, currency) if cap.kind == Kind.CENTS else value)
    return written


def _value(cap: Setting, form: Form, currency: str) -> Any:
    if cap.kind == Kind.SETTINGS:
        return form.each(cap.form_name)
    typed = form.text(cap.form_name)
    if cap.kind == Kind.SWITCH:
        return typed == "true"
    return text.minor(typed, currency) if cap.kind == Kind.CENTS else values.number(typed)


def _form(request: Request, context: PageContext, typed: dict[str, str], problems: Problems) -> Response:
    status = 400 if problems else 200
    typed = {**typed, "currency": context.currency}
    shown = {"sections": BY_SECTION, "names": NAMES, "typed": typed, "problems": problems}
    return templates.render(request, "agent_caps.html", status=status, context=context, **shown)
