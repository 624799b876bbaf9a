"""Every error that the service can give: one class for each code of texts.toml, such as NotFound of `not_found`.

The list is closed. Guides, hints, the dashboard's advice and OpenAPI's descriptions come from these classes.
"""

import re
import tomllib
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self, TypeVar

Value = TypeVar("Value")
Choice = TypeVar("Choice", bound=StrEnum)
TEXTS = tomllib.loads(Path(__file__).with_name("texts.toml").read_text(encoding="utf-8"))


class FieldError(NamedTuple):
    """One field that was wrong, and how."""

    field: str
    message: str


class ServiceError(Exception):
    """A rejected request. Nothing was stored for it; only OutcomeUnknown means that this is not certain."""

    code: ClassVar[str]  # by which alone clients branch: the class's name in snake_case, so renaming a class changes it
    message: ClassVar[str]  # what went wrong
    hint: ClassVar[str]  # what to do

    def __init_subclass__(cls) -> None:
        cls.code = vars(cls).get("code", re.sub("(?!^)([A-Z])", r"_\1", cls.__name__).lower())
        for name, text in TEXTS.get(cls.code, {}).items():
            setattr(cls, name, vars(cls).get(name, text))

    def __init__(
        self, message: str | None = None, *, hint: str | None = None, fields: Sequence[FieldError] = (), **details: Any
    ) -> None:
        super().__init__(message or self.message)
        self.text = message or self.message
        self.advice = hint or self.hint
        self.fields = tuple(fields)
        self.details = details  # further members of the error object


def required(value: Value | None, missing: ServiceError | type[ServiceError]) -> Value:
    """Return a value that was looked up. Raises the error that is for a missing one."""
    if value is None:
        raise missing
    return value


# Those that types name, or that say more than their texts; all others have no more than these.


class InvalidJson(ServiceError): ...


class Forbidden(ServiceError): ...


class OverCap(ServiceError): ...


class DuplicateTransaction(ServiceError): ...


class ValidationError(ServiceError):
    @classmethod
    def of(cls, field: str, message: str) -> Self:
        return cls(fields=[FieldError(field, message)])


class StorageUnavailable(ServiceError):
    is_partial = False  # one node of a cluster is down or one table is locked: the rest works


class OutcomeUnknown(ServiceError):
    is_partial = False


def choose(field: str, word: str, choices: type[Choice]) -> Choice:
    """Return the one of some words that a field has. Raises ValidationError."""
    try:
        return choices(word)
    except ValueError:
        raise ValidationError.of(field, f"One of {', '.join(choices)}") from None


BY_CODE: dict[str, type[ServiceError]] = {error.code: error for error in ServiceError.__subclasses__()}
BY_CODE |= {code: type(code.title().replace("_", ""), (ServiceError,), {}) for code in TEXTS if code not in BY_CODE}
CODES = sorted(BY_CODE)
_BY_NAME = {error.__name__: error for error in BY_CODE.values()}


def __getattr__(name: str) -> type[ServiceError]:
    """Return the error of this name."""
    if name not in _BY_NAME:
        raise AttributeError(f"there is no error {name}")
    return _BY_NAME[name]


def hint_of(code: str) -> str | None:
    """Return what to do about an error; None for a code that this version does not know."""
    return BY_CODE[code].hint if code in BY_CODE else None
