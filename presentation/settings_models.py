"""A program's settings as fields of the pydantic models of requests and responses."""

import json
import re
from collections.abc import Callable, Iterable
from functools import partial
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, Field, StringConstraints
from stdnum import iban
from stdnum.exceptions import ValidationError as InvalidNumber

from presentation.view import with_fields
from storage.rules.agent_caps import FREEZABLE
from storage.rules.commission import MOST_CENTS
from storage.rules.setting_kinds import Kind, Setting
from storage.rules.settings import SETTINGS
from web.body import Currency, Identifier, Text

Model = TypeVar("Model", bound=BaseModel)
LONGEST_HOST = 253
LARGEST_PORT = 65_535
_LABEL = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_HOST = re.compile(rf"({_LABEL}(?:\.{_LABEL})*)(?::([0-9]{{1,5}}))?")
_URL = re.compile(r"^https?://([^/]*)(/.*)?$", re.IGNORECASE)


def is_host(text: str) -> bool:
    """Say whether a text is a host name in lower case (an international one as punycode), with or without a port."""
    found = _HOST.fullmatch(text)
    return found is not None and len(found[1]) <= LONGEST_HOST and 0 < int(found[2] or 1) <= LARGEST_PORT


def _named(text: str) -> str:
    if not text.strip():
        raise ValueError("Must not be blank")
    return text.strip()


def _host(text: str) -> str:
    """Return the host of a pasted URL: `https://Shop.example/` is shop.example."""
    host = _URL.sub(r"\1", text.strip()).lower()
    if not is_host(host):
        raise ValueError("Must be a host name such as shop.example: letters, digits, dots and hyphens")
    return host


def _hosts(text: str) -> str:
    """Return the hosts of a list, whether spaces, lines or commas separate them."""
    return " ".join(dict.fromkeys(_host(each) for each in re.split(r"[\s,]+", text.strip())))


def _iban(text: str) -> str:
    try:
        return str(iban.validate(text))
    except InvalidNumber:
        raise ValueError("Must be an IBAN, whose check digits fit") from None


def _known_settings(names: list[str]) -> list[str]:
    unknown = [name for name in names if name not in FREEZABLE]
    if unknown:
        raise ValueError(f"Must be settings of a program that agents may change: {', '.join(FREEZABLE)}")
    return names


Name = Annotated[Text, AfterValidator(_named)]
Host = Annotated[Identifier, AfterValidator(_host)]
REQUEST_TYPES: dict[Kind, Any] = {
    Kind.SWITCH: bool,
    Kind.SETTINGS: Annotated[list[str], AfterValidator(_known_settings)],
    Kind.TEXT: Name,
    Kind.HOST: Host,
    Kind.HOSTS: Annotated[str, StringConstraints(min_length=1, max_length=1024), AfterValidator(_hosts)],
    Kind.CURRENCY: Currency,
    Kind.IBAN: Annotated[str, StringConstraints(max_length=64), AfterValidator(_iban)],
    Kind.PERCENT: Annotated[float, Field(ge=0, le=100, allow_inf_nan=False)],
    Kind.COMMISSION_RATE: Annotated[float, Field(ge=0, le=MOST_CENTS, allow_inf_nan=False)],
}


def with_settings(
    field: Callable[[Setting], Any], settings: Iterable[Setting] = SETTINGS
) -> Callable[[type[Model]], type[Model]]:
    """Return a decorator that adds a field for each setting to a model, after those that the model has."""
    return partial(with_fields, fields={setting.public_name: field(setting) for setting in settings})


def changed(setting: Setting) -> Any:
    """Return a setting as a field that changes a program; its text has the default, which would make it required."""
    default = "" if setting.is_required else f" New programs have {json.dumps(setting.default)}."
    return _request_type(setting), Field(setting.default, description=_text(setting) + default)


def created(setting: Setting) -> Any:
    """Return a setting as a field of a request that creates a program."""
    return _request_type(setting), Field(... if setting.is_required else setting.default, description=_text(setting))


def shown(setting: Setting) -> Any:
    """Return a setting as a field of a response."""
    is_rate = setting.kind in {Kind.PERCENT, Kind.COMMISSION_RATE}
    return int | float if is_rate else setting.value_type, Field(description=_text(setting))


def _request_type(setting: Setting) -> Any:
    if setting.kind == Kind.CHOICE:
        accepted = setting.value_type
    elif setting.kind in {Kind.NUMBER, Kind.CENTS}:
        accepted = Annotated[int, Field(ge=setting.lowest, le=setting.highest)]
    else:
        accepted = REQUEST_TYPES[setting.kind]
    return accepted | None if setting.is_nullable else accepted


def _text(setting: Setting) -> str:
    units = {Kind.PERCENT: "percent", Kind.CENTS: "cents", Kind.COMMISSION_RATE: "percent, or cents"}
    unit = units.get(setting.kind, setting.unit)
    text = f"{setting.description} In {unit}." if unit else setting.description
    return f"{text} null: {setting.if_empty}." if setting.if_empty else text
