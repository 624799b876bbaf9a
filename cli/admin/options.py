"""The options that admin commands share, and their parsers; a malformed value gives exit code 2."""

import getpass
import re
import sys
from datetime import UTC, date, datetime, time
from decimal import Decimal, InvalidOperation
from typing import Annotated

import typer

from presentation.host_name import is_host
from storage.access import passwords

LONGEST_TEXT = 512
LONGEST_IDENTIFIER = 255
_EMAIL = re.compile(r"[^@\s]+@[^@\s]+")
_LARGEST_ID = 2**31 - 1


def text(value: str, longest: int = LONGEST_TEXT) -> str:
    """Return a name without the blanks around it; it is not empty and has no control characters."""
    value = value.strip()
    if not 0 < len(value) <= longest or not value.isprintable():
        raise typer.BadParameter(f"1 to {longest} characters, none of them a control character")
    return value


def code(value: str) -> str:
    """Return a partner code, the value of ?aff= in links."""
    return text(value, LONGEST_IDENTIFIER)


def email(value: str) -> str:
    """Return an e-mail address."""
    if not _EMAIL.fullmatch(text(value, LONGEST_IDENTIFIER)):
        raise typer.BadParameter("an e-mail address, such as ada@example.com")
    return value.strip()


def domain(value: str) -> str:
    """Return a domain such as example.com, in lower case."""
    value = text(value, LONGEST_IDENTIFIER).lower()
    if not is_host(value):
        raise typer.BadParameter("a domain without scheme or path, such as example.com")
    return value


def percent(value: str) -> int:
    """Return a percentage with up to two decimals as basis points."""
    try:
        bps = Decimal(value) * 100
    except InvalidOperation:
        bps = Decimal("NaN")
    if not bps.is_finite() or bps != bps.to_integral_value() or not 0 <= bps <= 10_000:  # noqa: PLR2004 - 100 %
        raise typer.BadParameter("a percentage from 0 to 100 with at most two decimals, such as 12.5")
    return int(bps)


def timestamp(value: str) -> datetime:
    """Return an ISO 8601 time with its zone as UTC; a date alone is that day 00:00 UTC."""
    try:
        return datetime.combine(date.fromisoformat(value), time(), UTC)
    except ValueError:
        pass
    try:
        at = datetime.fromisoformat(value)
        if at.tzinfo is not None:
            return at.astimezone(UTC)
    except (ValueError, OverflowError):
        pass
    raise typer.BadParameter("Write ISO 8601 with a time zone, such as 2027-01-31T12:00:00Z, or only a date")


def secret(*, asked: bool, option: str, prompt: str) -> str:
    """Return the secret from standard input; arguments would be visible in process lists."""
    if not asked:
        raise typer.BadParameter(f"Give the {prompt} on standard input and add {option}", param_hint=option)
    if sys.stdin.isatty():
        return getpass.getpass(f"{prompt.capitalize()}: ")
    return sys.stdin.read().rstrip("\r\n")


def password_hash(*, asked: bool, email: str) -> str:
    """Return the stored form of the new password on standard input. Raises ValidationError for a weak one."""
    return passwords.protect_new(secret(asked=asked, option="--password-stdin", prompt="password"), email=email)


PasswordStdin = Annotated[bool, typer.Option("--password-stdin", help="Read the password from standard input.")]
WorkspaceId = Annotated[int, typer.Option("--workspace", min=1, max=_LARGEST_ID, help="The workspace's id.")]
ProgramId = Annotated[int, typer.Option("--program", min=1, max=_LARGEST_ID, help="The program's id.")]
Email = Annotated[str, typer.Option("--email", parser=email, metavar="EMAIL", help="An e-mail address.")]
Name = Annotated[str, typer.Option("--name", parser=text, metavar="NAME", help="Its name.")]
