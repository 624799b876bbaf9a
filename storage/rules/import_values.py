"""The values in other tools' exports, within the API's bounds: texts, times and amounts."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal

LONGEST = 255  # of an id or a key
LARGEST_CENTS = 10**12
FIRST_YEAR = 2000
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def text_of(row: Mapping[str, str], field: str) -> str:
    """Return a field that is stored as it is; empty if the row lacks it. Raises ValueError for what the API rejects."""
    text = row.get(field, "")
    if len(text) > LONGEST:
        raise ValueError(f"{field} has more than {LONGEST} characters")
    return printable(text)


def printable(text: str) -> str:
    """Return a text. Raises ValueError if it contains control characters."""
    if _CONTROL.search(text):
        raise ValueError(f"a text with control characters in it: {text[:40]!r}")
    return text


def moment(text: str) -> datetime:
    """Return a time: ISO 8601, a date, or one with a blank or `UTC`; without a zone it is UTC. Raises ValueError."""
    try:
        at = datetime.fromisoformat(text.strip().removesuffix(" UTC").replace(" +", "+"))
        at = at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValueError(f"no time that can be read: {text[:40]!r}") from None
    if at.year < FIRST_YEAR:
        raise ValueError(f"a time before {FIRST_YEAR}: {text[:40]!r}")
    return at


def cents_of(amount: str | None, cents: str | None, digits: int) -> int:
    """Return minor units: of `cents`, else of an amount with so many digits after the point. Raises ValueError."""
    try:
        exact = Decimal(cents) if cents else Decimal((amount or "").strip("$€£¥ ").replace(",", "")).scaleb(digits)
    except ArithmeticError:  # of decimal: no number, or one out of all bounds
        exact = Decimal("NaN")
    if not exact.is_finite() or abs(exact) > LARGEST_CENTS:
        raise ValueError(f"no amount that can be read: {(cents or amount or '')[:40]!r}")
    if exact != exact.to_integral_value():
        raise ValueError(f"an amount with a fraction of a cent: {(cents or amount or '')[:40]!r}")
    return int(exact)
