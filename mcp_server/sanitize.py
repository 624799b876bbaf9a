"""Storage's values as JSON for assistants; text that strangers wrote becomes inert and short."""

import re
import unicodedata
from collections.abc import Set as AbstractSet
from functools import cache
from typing import Any, get_args, get_type_hints

from pydantic_core import to_jsonable_python

from storage.rules.untrusted import UNTRUSTED

LONGEST = 200
_DROPPED = {"Cc", "Cf", "Co", "Cs"}  # control, format (joiners, bidirectional marks), private use, surrogates
# Code points that are drawn as nothing and yet are no format characters: joiners, fillers, variation selectors.
_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2065\u3164\ufe00-\ufe0f\uffa0\U000e0000-\U000e0fff]"
)


def clean(text: str) -> str:
    """Return a stranger's text on one line: NFC, only visible characters, at most 200 of them."""
    if not (text.isascii() and text.isprintable()):
        line = _UNSEEN.sub("", " ".join(text.split()))
        seen = (character for character in line if unicodedata.category(character) not in _DROPPED)
        text = unicodedata.normalize("NFC", "".join(seen))
    return " ".join(text.split())[:LONGEST].rstrip()


def json_of(value: Any, *, is_untrusted: bool = False) -> Any:
    """Return a value as JSON: rows as objects without None, and the texts that a row's type marks cleaned."""
    if isinstance(value, str):
        return clean(value) if is_untrusted else value
    if isinstance(value, int | float):
        return value
    if hasattr(value, "_fields"):
        return row_of(value)
    if isinstance(value, dict):
        kept = value.items() if not is_untrusted else [pair for pair in value.items() if pair[1] is not None]
        return {name: json_of(each, is_untrusted=is_untrusted) for name, each in kept}
    if isinstance(value, list | tuple):
        return [json_of(each, is_untrusted=is_untrusted) for each in value]
    return to_jsonable_python(value)


def row_of(row: Any, *, leave_out: AbstractSet[str] = frozenset()) -> dict[str, Any]:
    """Return a row as a JSON object, without some fields and those that are None."""
    kind: Any = type(row)
    marked = _marked_fields(kind)
    return {
        name: json_of(each, is_untrusted=name in marked)
        for name, each in row._asdict().items()
        if each is not None and name not in leave_out
    }


def is_marked(hint: Any) -> bool:
    """Say whether strangers wrote a value of this type, or some of the values in it; rows in it mark their own."""
    return UNTRUSTED in getattr(hint, "__metadata__", ()) or any(map(is_marked, get_args(hint)))


@cache
def _marked_fields(row: Any) -> frozenset[str]:
    return frozenset(name for name, hint in get_type_hints(row, include_extras=True).items() if is_marked(hint))
