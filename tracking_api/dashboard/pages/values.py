"""Form input as the values that the JSON API accepts: amounts in major units, numbers as text."""

import re
from collections.abc import Iterable
from typing import Any

from storage.rules import settings
from storage.rules.commission import CommissionType
from storage.rules.setting_kinds import Kind, Setting
from storage.rules.settings import SETTINGS, ProgramSettings
from tracking_api.dashboard.pages import text
from tracking_api.dashboard.pages.forms import Form

_INTEGER = re.compile(r"-?[0-9]{1,18}")
_DECIMAL = re.compile(r"-?[0-9]{0,18}\.[0-9]{1,18}")


def of_form(form: Form, settings: Iterable[Setting], *, currency: str = "USD") -> dict[str, Any]:
    """Return the typed settings as the API accepts them."""
    currency = form.text("currency") or currency
    is_flat = form.text("commission_type") == CommissionType.FLAT
    return {each.public_name: _value(each, form.text(each.form_name), currency, is_flat=is_flat) for each in settings}


def of_settings(chosen: ProgramSettings) -> dict[str, str]:
    """Return a program's settings as people would type them."""
    shown = settings.published(chosen)
    is_flat = chosen.commission_type == CommissionType.FLAT
    for setting in SETTINGS:
        if _is_amount(setting, is_flat=is_flat):
            shown[setting.public_name] = text.major(shown[setting.public_name], chosen.currency)
    values = {setting.form_name: shown[setting.public_name] for setting in SETTINGS}
    return {name: "" if value is None else str(value) for name, value in values.items()}


def typed(form: Form) -> dict[str, str]:
    """Return what was typed, to show it again."""
    return {name: form.text(name) for name in form.fields}


def number(typed: str) -> int | float | str:
    """Return a typed number as a number; return other text unchanged."""
    if _INTEGER.fullmatch(typed):
        return int(typed)
    return float(typed) if _DECIMAL.fullmatch(typed) else typed


def _value(setting: Setting, typed: str, currency: str, *, is_flat: bool) -> int | float | str | None:
    if not typed and setting.is_nullable:
        value: int | float | str | None = None
    elif _is_amount(setting, is_flat=is_flat):
        value = text.minor(typed, currency)
    elif setting.kind in {Kind.NUMBER, Kind.PERCENT, Kind.COMMISSION_RATE}:
        value = number(typed)
    else:
        value = typed
    return value


def _is_amount(setting: Setting, *, is_flat: bool) -> bool:
    """Return whether people type the setting as an amount of money."""
    return setting.kind == Kind.CENTS or (setting.kind == Kind.COMMISSION_RATE and is_flat)
