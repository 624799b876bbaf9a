"""What a query asks for: values, each None when it was not sent, and the rows of a list, on every surface.

A number or boolean that is no text has been read already, and stays as it is.
"""

import re
from collections.abc import Mapping
from datetime import date, datetime
from typing import Any, cast

from storage.lists.declaration import DEFAULT_LIMIT, MOST, List, ListQuery, Order
from storage.rules.errors import Choice, ValidationError, choose
from storage.rules.periods import period

Sent = Mapping[str, Any]
LONGEST = 255
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
ASCENDING, DESCENDING = ".up", ".down"
ALL_DAYS = period.Window(date.min, date.max)
BOOLEANS = {"true": True, "1": True, "false": False, "0": False}


def value(sent: Sent, name: str, kind: type) -> Any:
    """Return a value of this kind, or one of some words. Raises ValidationError, InvalidRange."""
    readers: Mapping[type, Any] = {str: text, int: number, bool: boolean, datetime: moment}
    return readers[kind](sent, name) if kind in readers else choice(sent, name, kind)


def moment(sent: Sent, name: str) -> datetime | None:
    """Return a moment; the end of a day or millisecond for a name in `_to` or `_until`. Raises InvalidRange."""
    is_end = name.endswith(("_to", "_until"))
    return period.span(None, sent.get(name)).until if is_end else period.span(sent.get(name), None).since


def choice(sent: Sent, name: str, choices: type[Choice]) -> Choice | None:
    """Return a value that is one of some words. Raises ValidationError."""
    return choose(name, sent[name], choices) if name in sent else None


def text(sent: Sent, name: str) -> str | None:
    """Return a value that is any text. Raises ValidationError."""
    found = sent.get(name)
    if found is not None and not (0 < len(found) <= LONGEST and not CONTROL.search(found)):
        raise ValidationError.of(name, f"1 to {LONGEST} characters, without control characters")
    return found


def number(sent: Sent, name: str, *, least: int = 0, most: int = 10**16) -> int | None:
    """Return a value that is an integer, such as an id. Raises ValidationError."""
    found = sent.get(name)
    if not isinstance(found, str):
        return cast("int | None", found)
    is_small = found.isascii() and found.isdigit() and len(found) <= len(str(most))
    if not (is_small and least <= int(found) <= most):
        raise ValidationError.of(name, f"An integer from {least} to {most}" if least else "An integer")
    return int(found)


def boolean(sent: Sent, name: str) -> bool | None:
    """Return a value that is true or false. Raises ValidationError."""
    found = sent.get(name)
    if isinstance(found, str) and found not in BOOLEANS:
        raise ValidationError.of(name, "true or false")
    return BOOLEANS.get(cast("Any", found), found)


def query_of(wanted: List[Any], sent: Sent) -> ListQuery:
    """Return what a query asks of a list. Raises ValidationError, InvalidRange."""
    is_spanned = wanted.at is not None and not wanted.has_window
    return ListQuery(
        number(sent, "limit", least=1, most=MOST) or DEFAULT_LIMIT,
        sent.get("cursor") or None,
        order_of(wanted, sent.get("sort", "")),
        {each.name: value(sent, each.name, each.kind) for each in wanted.filters},
        text(sent, "q"),
        has_totals=boolean(sent, "totals") or False,
        span=period.span(sent.get("date_from"), sent.get("date_to")) if is_spanned else period.ALWAYS,
    )


def is_order(wanted: List[Any], sent: str) -> bool:
    """Return whether a query string names an order of the list."""
    return _column(sent) in {"", *(each.public_name for each in wanted.sorts.values())}


def order_of(wanted: List[Any], sent: str) -> Order:
    """Return the order that a query string names. Raises ValidationError."""
    names = {"": None} | {each.public_name: each.name for each in wanted.sorts.values()}
    if not is_order(wanted, sent):
        raise ValidationError.of("sort", f"One of {', '.join(filter(None, names))}")
    return Order(names[_column(sent)], sent.endswith(ASCENDING))


def _column(sent: str) -> str:
    """Return the column that an order names, empty for the rows' own order, by time."""
    return sent.removesuffix(ASCENDING).removesuffix(DESCENDING).removesuffix("_cents")
