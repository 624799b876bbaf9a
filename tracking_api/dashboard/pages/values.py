"""Form input as the values that the JSON API accepts, and back: amounts in major units, numbers as text; currencies."""

import re
from base64 import b64encode
from collections.abc import Iterable, Mapping
from functools import lru_cache
from types import NoneType
from typing import Any, get_args, get_origin

from babel.numbers import get_currency_name
from pydantic_core import to_json

from storage.rules.commission import CommissionType
from storage.rules.setting_kinds import Setting
from storage.tracking import currencies
from tracking_api.dashboard.pages import text
from tracking_api.dashboard.pages.forms import CENTS, Form
from web import body
from web.body import Body, Parsed

_INTEGER = re.compile(r"-?[0-9]{1,18}")
_DECIMAL = re.compile(r"-?[0-9]{0,18}\.[0-9]{1,18}")


def of_form(form: Form, model: type[Body] | None, *, currency: str = "") -> dict[str, Any]:
    """Return the fields of a model that a form sent, as the API accepts them; a box that is not ticked is false."""
    currency = form.text("currency") or currency
    is_flat = form.text("commission_type") == CommissionType.FLAT
    sent: dict[str, Any] = {}
    for name, field in (model.model_fields if model else {}).items():
        kinds, typed = _kinds(field.annotation), form.text(name.removesuffix(CENTS))
        if bytes in kinds:
            sent[name] = b64encode(form.file).decode()
        elif list in kinds:
            sent[name] = form.each(name)
        elif bool in kinds:
            sent[name] = typed == "true"
        elif name.removesuffix(CENTS) in form.fields:
            if not typed and NoneType in kinds:
                sent[name] = None
            elif _is_amount(name, is_flat=is_flat):
                sent[name] = text.minor(typed, currency)
            elif "password" in name:
                sent[name] = form.raw(name)
            else:
                sent[name] = _number(typed) if int in kinds or float in kinds else typed
    return sent


def parsed(form: Form, model: type[Parsed]) -> Parsed:
    """Return a form as a model. Raises ValidationError."""
    return body.parse(model, to_json(of_form(form, model)))


def of_settings(settings: Iterable[Setting], published: Mapping[str, Any], currency: str) -> dict[str, str]:
    """Return settings, as the API publishes them, as people would type them."""
    is_flat = published.get("commission_type") == CommissionType.FLAT
    written = {}
    for each in settings:
        value = published[each.public_name]
        if _is_amount(each.public_name, is_flat=is_flat):
            value = text.major(value, currency)
        elif isinstance(value, list | tuple):
            value = " ".join(value)
        elif isinstance(value, bool):
            value = str(value).lower()
        written[each.form_name] = "" if value is None else str(value)
    return written


def _is_amount(name: str, *, is_flat: bool) -> bool:
    """Return whether people type a field of the API as an amount of money."""
    return name.endswith(CENTS) or (name == "commission_rate" and is_flat)


def _number(typed: str) -> int | float | str:
    """Return a typed number as a number; return other text unchanged."""
    if _INTEGER.fullmatch(typed):
        return int(typed)
    return float(typed) if _DECIMAL.fullmatch(typed) else typed


def _kinds(annotation: Any) -> list[Any]:
    """Return the types of which a type is made."""
    return [get_origin(annotation) or annotation, *(kind for each in get_args(annotation) for kind in _kinds(each))]


@lru_cache(64)
def currency_options(chosen: str) -> list[tuple[str, str]]:
    """Return each currency's code and the text of its option; a chosen code that is none of them comes last."""
    known, first = currencies.current(), ("USD", "EUR", "GBP")
    codes = (*first, *sorted(known - set(first)))
    options = [(code, f"{code} · {get_currency_name(code, locale='en')}") for code in codes]
    return options + ([(chosen, chosen)] if chosen and chosen not in known else [])
