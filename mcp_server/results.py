"""Storage's values as JSON for assistants: texts of strangers inert and short, a whole result below 24 KB."""

import json
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from functools import cache
from typing import Any, get_args, get_type_hints

from pydantic_core import to_jsonable_python

from storage.rules.untrusted import UNTRUSTED

LARGEST = 24_000  # bytes of a whole result
BUDGET = LARGEST - 3_000  # of them for rows
SHORT = 6_000  # what is sent in both forms: some assistants read only the text, some only the structured content
SMALL = 300  # of a longer result, what the text repeats: sums, counts and cursors
FEWEST = 10  # a list of more rows may be a table
NOTE = "The rest is in structuredContent. If you cannot read it, ask for less: limit, dates, filters."
JsonRow = dict[str, Any]
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


def compact(values: Any) -> str:
    """Return JSON values as text without needless space."""
    return json.dumps(values, ensure_ascii=False, separators=(",", ":"))


def weight(values: Any) -> int:
    """Return how many bytes these values take in a result at most, with a comma: the SDK may escape letters."""
    return len(json.dumps(values, separators=(",", ":"))) + 1


def fitting(rows: list[Any], budget: int = BUDGET) -> list[Any]:
    """Return as many of the rows as fit a result."""
    return rows[: bisect_right(range(1, len(rows) + 1), budget, key=lambda count: weight(_shown(rows[:count])))]


def shown(values: Mapping[str, Any]) -> JsonRow:
    """Return JSON values as a client gets them: long lists of rows become tables."""
    return {name: _shown(each) for name, each in values.items()}


def text_of(result: JsonRow) -> str:
    """Return a result as text; of a longer one only what is small."""
    whole = compact(result)
    if len(whole) <= SHORT and (whole.isascii() or weight(result) <= SHORT):
        return whole
    return compact({**{name: each for name, each in result.items() if weight(each) <= SMALL}, "note": NOTE})


def _shown(value: Any) -> Any:
    is_list = isinstance(value, list) and len(value) > FEWEST and all(isinstance(each, dict) for each in value)
    return table(value) if is_list else value


def table(rows: list[JsonRow]) -> Any:
    """Return rows as `columns` and `rows`, with what is the `same` in all apart, or as they are if that is shorter."""
    flat = [_flat(row) for row in rows]
    names = list(dict.fromkeys(name for row in flat for name in row))
    same = {name: flat[0][name] for name in names if all(name in row and row[name] == flat[0][name] for row in flat)}
    columns = [name for name in names if name not in same]  # `a.b` is the field b of a; null, that a row has none
    short = {"same": same, "columns": columns, "rows": [[row.get(name) for name in columns] for row in flat]}
    has_null = any(None in row.values() for row in flat)  # it means something else than a field that is not there
    return rows if has_null else min(rows, short, key=weight)


def _flat(row: JsonRow) -> JsonRow:
    flat: JsonRow = {}
    for name, value in row.items():
        parts = value if isinstance(value, dict) else {}
        flat |= {f"{name}.{part}": each for part, each in parts.items()} if parts else {name: value}
    return flat
