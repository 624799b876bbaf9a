"""The options that admin commands share, and their parsers; a malformed value gives exit code 2."""

import getpass
import re
import sys
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Annotated, Any

import typer
from pydantic import TypeAdapter, ValidationError

from presentation import changes, settings_models
from web import body

_LARGEST_ID = 2**31 - 1


def _of(kind: Any) -> Callable[[str], Any]:
    """Return a parser for a type of the API's requests."""

    def parse(value: str) -> Any:
        try:
            return TypeAdapter(kind).validate_python(value.strip())
        except ValidationError as wrong:
            raise typer.BadParameter(wrong.errors()[0]["msg"].removeprefix("Value error, ")) from None

    return parse


name, code, email, domain = map(_of, (settings_models.Name, body.Identifier, changes.Email, settings_models.Host))


def percent(value: str) -> int:
    """Return a percentage with up to two decimals as basis points."""
    if not re.fullmatch(r"\d{1,3}(\.\d{1,2})?", value, re.ASCII) or Decimal(value) > 100:  # noqa: PLR2004 - 100 %
        raise typer.BadParameter("a percentage from 0 to 100 with at most two decimals, such as 12.5")
    return int(Decimal(value) * 100)


def timestamp(value: str) -> datetime:
    """Return an ISO 8601 time with its zone as UTC; a date alone is that day 00:00 UTC."""
    with suppress(ValueError):
        return datetime.combine(date.fromisoformat(value), time(), UTC)
    with suppress(ValueError, OverflowError):
        at = datetime.fromisoformat(value)
        if at.tzinfo is not None:
            return at.astimezone(UTC)
    raise typer.BadParameter("Write ISO 8601 with a time zone, such as 2027-01-31T12:00:00Z, or only a date")


def secret(*, asked: bool, option: str, prompt: str) -> str:
    """Return the secret from standard input; arguments would be visible in process lists."""
    if not asked:
        raise typer.BadParameter(f"Give the {prompt} on standard input and add {option}", param_hint=option)
    if sys.stdin.isatty():
        return getpass.getpass(f"{prompt.capitalize()}: ")
    return sys.stdin.read().rstrip("\r\n")


PasswordStdin = Annotated[bool, typer.Option("--password-stdin", help="Read the password from standard input.")]
WorkspaceId = Annotated[int, typer.Option("--workspace", min=1, max=_LARGEST_ID, help="The workspace's id.")]
ProgramId = Annotated[int, typer.Option("--program", min=1, max=_LARGEST_ID, help="The program's id.")]
Email = Annotated[str, typer.Option("--email", parser=email, metavar="EMAIL", help="An e-mail address.")]
Name = Annotated[str, typer.Option("--name", parser=name, metavar="NAME", help="Its name.")]
