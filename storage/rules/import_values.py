"""The values in other tools' exports, within the API's bounds: texts, times and amounts."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal

LONGEST = 255  # of an id or a key
LARGEST_CENTS = 10**12
FIRST_YEAR = 2000
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_SIGN = r"[A-Z]{0,3}[^\w\s.,-]?"
_AMOUNT = re.compile(rf"(-?)({_SIGN}) ?(-?)([0-9]{{1,3}}(?:,[0-9]{{3}})+|[0-9]{{1,15}})(\.[0-9]{{1,15}})? ?({_SIGN})")


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


def cents_of(text: str, currency: str, *, digits: int, signs: Mapping[str, str]) -> int:
    """Return an amount in minor units; `signs` says what each sign beside it may mean. Raises ValueError."""
    parsed = _AMOUNT.fullmatch(text)
    exact = Decimal(parsed[4].replace(",", "") + (parsed[5] or "")).scaleb(digits) if parsed else Decimal(0)
    if parsed is None or exact > LARGEST_CENTS:
        raise ValueError(f"no amount that can be read: {text[:40]!r}")
    if exact != exact.to_integral_value():
        raise ValueError(f"an amount with a fraction of a cent: {text[:40]!r}")
    for sign in filter(None, (parsed[2], parsed[6])):
        if currency not in signs.get(sign, sign).split():
            raise ValueError(f"an amount that is not in {currency}: {text[:40]!r}")
    return -int(exact) if parsed[1] or parsed[3] else int(exact)
