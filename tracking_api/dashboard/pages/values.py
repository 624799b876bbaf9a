"""What people type into forms, as the values that the JSON API takes: amounts in major units, numbers as text."""

import re
from collections.abc import Iterable
from typing import Any

from storage.rules.commission import CommissionType
from tracking_api.dashboard.pages import text
from tracking_api.dashboard.pages.forms import Form

NUMBERS = (
    "commission_rate",
    "platform_fee_rate",
    "cookie_window_days",
    "attribution_window_days",
    "hold_days",
    "recurring_months",
    "workspace_id",
)
EMPTY_IS_NULL = ("recurring_months", "email")
_INTEGER = re.compile(r"-?[0-9]{1,18}")
_DECIMAL = re.compile(r"-?[0-9]{0,18}\.[0-9]{1,18}")


def of_form(form: Form, names: Iterable[str], *, currency: str = "USD") -> dict[str, Any]:
    """Return the named fields as the API takes them; `lead_commission` and a flat rate are typed in major units."""
    asked: dict[str, Any] = {name: _value(name, form.text(name)) for name in names}
    flat = asked.get("commission_type") == CommissionType.FLAT
    if flat and "commission_rate" in asked:
        asked["commission_rate"] = text.minor(form.text("commission_rate"), form.text("currency") or currency)
    if "lead_commission" in asked:
        cents = text.minor(str(asked.pop("lead_commission")), form.text("currency") or currency)
        asked["lead_commission_cents"] = cents
    return asked


def typed(form: Form) -> dict[str, str]:
    """Return what was typed, to show it again."""
    return {name: form.text(name) for name in form.fields}


def _value(name: str, typed: str) -> int | float | str | None:
    if not typed and name in EMPTY_IS_NULL:
        value: int | float | str | None = None
    elif name in NUMBERS:
        value = _number(typed)
    else:
        value = typed
    return value


def _number(typed: str) -> int | float | str:
    if _INTEGER.fullmatch(typed):
        return int(typed)
    return float(typed) if _DECIMAL.fullmatch(typed) else typed
