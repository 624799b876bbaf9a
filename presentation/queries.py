"""The query string of lists: the page and the filters."""

from enum import StrEnum
from typing import TypeVar

from starlette.requests import Request

from storage.engine import pagination
from storage.engine.pagination import Paging
from storage.rules.errors import FieldError, ValidationError
from storage.rules.periods import period
from storage.rules.periods.period import Span

Choice = TypeVar("Choice", bound=StrEnum)
LONGEST = 255
DATES = {"date_from": "Only from this ISO 8601 date or time on.", "date_to": "Only until it."}


def paging(request: Request) -> Paging:
    """Return the paging of `?limit=` and `?cursor=`. Raises ValidationError."""
    return pagination.parse(request.query_params.get("limit"), request.query_params.get("cursor"))


def choice(request: Request, name: str, choices: type[Choice]) -> Choice | None:
    """Return a filter that is one of some words, None when it was not sent. Raises ValidationError."""
    sent = request.query_params.get(name)
    try:
        return None if sent is None else choices(sent)
    except ValueError:
        raise _wrong(name, f"One of {', '.join(choices)}") from None


def text(request: Request, name: str) -> str | None:
    """Return a filter that is any text, None when it was not sent. Raises ValidationError."""
    sent = request.query_params.get(name)
    if sent is not None and not (0 < len(sent) <= LONGEST and sent.isprintable()):
        raise _wrong(name, f"1 to {LONGEST} characters, without control characters")
    return sent


def number(request: Request, name: str) -> int | None:
    """Return a filter that is an id, None when it was not sent. Raises ValidationError."""
    sent = request.query_params.get(name)
    if sent is None:
        return None
    if not (sent.isascii() and sent.isdigit() and len(sent) <= len(str(2**53))):
        raise _wrong(name, "An integer")
    return int(sent)


def span(request: Request) -> Span:
    """Return the span of `?date_from=` and `?date_to=`, ISO 8601, both included. Raises InvalidRange."""
    return period.span(*(request.query_params.get(name) for name in DATES))


def _wrong(name: str, message: str) -> ValidationError:
    return ValidationError(fields=[FieldError(name, message)])
