"""The parts of a setting: its kind, its options, its section on the settings page, its texts."""

import tomllib
from collections.abc import Mapping
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, get_args, get_type_hints

from storage.rules.commission import MOST_CENTS, CommissionType, percent, shown_rate
from storage.rules.errors import ValidationError
from storage.rules.money import BPS


class Kind(StrEnum):
    """The kind of a setting's value, which decides how the APIs validate it and how forms show it."""

    TEXT = "text"
    HOST = "host"
    HOSTS = "hosts"  # separated by spaces
    CURRENCY = "currency"
    CHOICE = "choice"
    NUMBER = "number"
    CENTS = "cents"
    PERCENT = "percent"  # stored as basis points
    COMMISSION_RATE = "commission_rate"  # percent or cents, as commission_type says
    IBAN = "iban"
    SWITCH = "switch"
    SETTINGS = "settings"  # names of settings


class Section(NamedTuple):
    title: str
    hint: str = ""


class Option(NamedTuple):
    title: str
    description: str = ""


class Setting(NamedTuple):
    """A setting as forms and the APIs show it; from `name` on, the field that declares it says it."""

    label: str
    kind: Kind
    section: Section
    unit: str = ""
    lowest: int = 0
    highest: int = MOST_CENTS
    if_empty: str = ""  # what None means
    is_term: bool = False  # stored in versions: the version in force when a sale happens prices it
    owner_only: bool = False  # agents may not change it
    public_name: str = ""  # in the APIs, if it differs from the stored one in more than its unit `_bps`
    description: str = ""
    options: Mapping[StrEnum, Option] = MappingProxyType({})
    name: str = ""
    value_type: Any = None
    is_required: bool = False
    default: Any = None

    @property
    def is_nullable(self) -> bool:
        return type(None) in get_args(self.value_type)

    @property
    def is_explained(self) -> bool:
        return any(option.description for option in self.options.values())

    @property
    def choices(self) -> list[tuple[str, ...]]:
        """Return the choices for a form: value, title, and the description if there is one."""
        shown = 2 if self.is_explained else 1
        return [(value, *option[:shown]) for value, option in self.options.items()]

    @property
    def form_name(self) -> str:
        """Return the name in forms, where people type amounts instead of cents."""
        return self.public_name.removesuffix("_cents")

    def stored(self, value: Any, commission_type: CommissionType) -> Any:
        """Return a value of the APIs as it is stored. Raises ValidationError naming the setting."""
        if self.kind not in {Kind.PERCENT, Kind.COMMISSION_RATE}:
            return value
        if self.kind == Kind.COMMISSION_RATE and commission_type == CommissionType.FLAT:
            exact = value
            most = MOST_CENTS
            wrong = f"Flat: an integer from 0 to {MOST_CENTS}, in cents per sale"
        else:
            exact, most = Decimal(str(value)) * 100, BPS
            wrong = "Percent: a number from 0 to 100 with at most two decimals"
        if not 0 <= exact <= most or exact != int(exact):
            raise ValidationError.of(self.public_name, wrong)
        return int(exact)

    def published(self, value: Any, commission_type: CommissionType) -> Any:
        if self.kind == Kind.COMMISSION_RATE:
            return shown_rate(commission_type, value)
        return percent(value) if self.kind == Kind.PERCENT else value


def declared(defaults: Any, texts: Path) -> tuple[tuple[Setting, ...], tuple[Section, ...]]:
    """Return the settings that the fields of a named tuple are, as a TOML file describes each, and their sections."""
    commission_type = getattr(defaults, "commission_type", CommissionType.PERCENT)
    described = tomllib.loads(texts.read_text(encoding="utf-8"))
    sections = {name: Section(**section) for name, section in described.pop("sections").items()}
    settings = []
    for name, value_type in get_type_hints(type(defaults)).items():
        about = {"public_name": name.removesuffix("_bps"), "options": {}, **described[name]}
        about |= {"kind": Kind(about["kind"]), "section": sections[about["section"]]}
        about["options"] = {value_type(value): Option(**option) for value, option in about["options"].items()}
        setting = Setting(**about, name=name, value_type=value_type, is_required=name not in defaults._field_defaults)
        settings.append(setting._replace(default=setting.published(getattr(defaults, name), commission_type)))
    return tuple(settings), tuple(sections.values())
