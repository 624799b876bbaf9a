"""What an error is: a stable code, what went wrong, and what to do about it."""

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple


class FieldError(NamedTuple):
    """One field that was wrong, and how."""

    field: str
    message: str


class ServiceError(Exception):
    """A rejected request: nothing was stored for it, except where OutcomeUnknown says that this is not known.

    `message` says what went wrong, `hint` what to do, `fields` which fields are wrong; `details` are further members
    of the error object. Clients branch on `code` alone.
    """

    code: ClassVar[str]
    message: ClassVar[str]
    hint: ClassVar[str]

    def __init__(
        self,
        message: str | None = None,
        *,
        hint: str | None = None,
        fields: Sequence[FieldError] = (),
        **details: Any,
    ) -> None:
        super().__init__(message or self.message)
        self.text = message or self.message
        self.advice = hint or self.hint
        self.fields = tuple(fields)
        self.details = details
