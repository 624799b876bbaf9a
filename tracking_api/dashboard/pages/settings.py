"""A program's settings: what it is called, what it pays, how it tracks."""

from typing import Any

from pydantic_core import to_json
from starlette.requests import Request
from starlette.responses import Response

from presentation.changes import ProgramChange
from storage.management import program_settings
from storage.management.program_settings import Program
from storage.rules import commission_rate
from storage.rules.commission import CommissionType
from storage.rules.errors import CurrencyNotSupported, PreconditionFailed, ValidationError
from tracking_api.dashboard.authentication import storage_of
from tracking_api.dashboard.pages import forms, notices, page_context, templates, text, values
from tracking_api.dashboard.pages.forms import Form, Problems
from tracking_api.dashboard.pages.page import redirect
from tracking_api.dashboard.pages.page_context import PageContext
from web import body

FIELDS = (
    "name",
    "domain",
    "status",
    "currency",
    "commission_type",
    "commission_rate",
    "lead_commission",
    "recurring_months",
    "platform_fee_rate",
    "hold_days",
    "lead_auth_policy",
    "attribution_model",
    "cookie_window_days",
    "attribution_window_days",
)


async def show(request: Request) -> Response:
    """Show the settings; owners may change them."""
    see = await page_context.as_member(request)
    return _form(request, see, _typed(see.program), Problems())


async def change(request: Request) -> Response:
    """Save the settings; what is wrong is said beside the field, and nothing is saved then."""
    see = await page_context.as_owner(request)
    form = await forms.read_form(request)
    try:
        asked = body.parse(ProgramChange, to_json(values.of_form(form, FIELDS, currency=see.currency))).sent()
        await storage_of(request).write(
            program_settings.change,
            see.program.id,
            asked,
            actor=see.member.actor,
            at=see.at,
            expected_revision=_revision(form),
            lane=see.program.id,
        )
    except (ValidationError, CurrencyNotSupported, PreconditionFailed) as refusal:
        return _form(request, see, values.typed(form), _problems(refusal))
    return notices.leave(redirect(f"{see.place}/settings"), "program-changed")


def _problems(refusal: ValidationError | CurrencyNotSupported | PreconditionFailed) -> Problems:
    if isinstance(refusal, ValidationError):
        found = Problems.of(refusal)
        if "lead_commission_cents" in found:
            found["lead_commission"] = "Must be an amount such as 2.50"
    elif isinstance(refusal, CurrencyNotSupported):
        found = Problems(currency=refusal.text)
    else:
        found = Problems({"": "Somebody saved these settings while you had them open. Open the page again."})
    return found


def _revision(form: Form) -> int:
    sent = form.text("revision")
    return int(sent) if sent.isascii() and sent.isdigit() and len(sent) <= len(str(2**31)) else -1


def _typed(program: Program) -> dict[str, str]:
    """Return the settings as somebody would type them."""
    settings = program.settings
    shown: dict[str, Any] = settings._asdict()
    flat = settings.commission_type == CommissionType.FLAT
    percent = commission_rate.shown(settings.commission_type, settings.rate)
    shown["commission_rate"] = text.major(settings.rate, settings.currency) if flat else percent
    shown["lead_commission"] = text.major(settings.lead_commission_cents, settings.currency)
    shown["platform_fee_rate"] = commission_rate.percent(settings.platform_fee_bps)
    shown["revision"] = program.revision
    return {name: "" if value is None else str(value) for name, value in shown.items()}


def _form(request: Request, see: PageContext, typed: dict[str, str], problems: Problems) -> Response:
    status = 400 if problems else 200
    return templates.render(request, "settings.html", status=status, seen=see, typed=typed, problems=problems)
