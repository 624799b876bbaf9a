"""The base of all errors: a stable code, what went wrong, and what to do about it."""

import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

TEXTS = tomllib.loads(Path(__file__).with_name("texts.toml").read_text(encoding="utf-8"))


class FieldError(NamedTuple):
    """One field that was wrong, and how."""

    field: str
    message: str


class ServiceError(Exception):
    """A rejected request. Nothing was stored for it; only OutcomeUnknown means that this is not certain.

    `message` says what went wrong, `hint` what to do, `fields` which fields are wrong; `details` are further members
    of the error object. Clients branch only on `code`: the class's name in snake_case, so renaming a class changes it.
    Its texts are those of its code in texts.toml, unless the class has its own.
    """

    code: ClassVar[str]
    message: ClassVar[str]
    hint: ClassVar[str]

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
        self.details = details


def declared(name: str) -> type[ServiceError]:
    """Return the class of an error that is no more than its name and what texts.toml says of it."""
    return type(name, (ServiceError,), {})
