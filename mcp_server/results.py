"""A tool's result below 24 KB of all that a client receives: as structured content, and a short one as text as well."""

import json
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Any

LARGEST = 24_000  # bytes of a whole result
BUDGET = LARGEST - 3_000  # of them for rows
SHORT = 6_000  # what is sent in both forms: some assistants read only the text, some only the structured content
SMALL = 300  # of a longer result, what the text repeats: sums, counts and cursors
FEWEST = 10  # a list of more rows may be a table
NOTE = "The rest is in structuredContent. If you cannot read it, ask for less: limit, dates, filters."
JsonRow = dict[str, Any]


def compact(values: Any) -> str:
    """Return JSON values as text without needless space."""
    return json.dumps(values, ensure_ascii=False, separators=(",", ":"))


def weight(values: Any) -> int:
    """Return how many bytes these values take at most in a result, with the comma after them.

    The SDK writes a letter beyond ASCII as an escape.
    """
    return len(json.dumps(values, separators=(",", ":"))) + 1


def fitting(rows: Sequence[Any], budget: int = BUDGET) -> int:
    """Return how many of the rows fit a result."""
    return bisect_right(range(1, len(rows) + 1), budget, key=lambda count: weight(_shown(rows[:count])))


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
    """Return rows as `columns` and `rows` under what is the `same` in all of them, or as they are if that is shorter.

    `a.b` is the field b of the object a; null stands for a field that a row does not have.
    """
    flat = [_flat(row) for row in rows]
    names = list(dict.fromkeys(name for row in flat for name in row))
    same = {name: flat[0][name] for name in names if all(name in row and row[name] == flat[0][name] for row in flat)}
    columns = [name for name in names if name not in same]
    short = {"same": same, "columns": columns, "rows": [[row.get(name) for name in columns] for row in flat]}
    has_null = any(None in row.values() for row in flat)  # it means something else than a field that is not there
    return rows if has_null else min(rows, short, key=weight)


def _flat(row: JsonRow) -> JsonRow:
    flat: JsonRow = {}
    for name, value in row.items():
        parts = value if isinstance(value, dict) else {}
        flat |= {f"{name}.{part}": each for part, each in parts.items()} if parts else {name: value}
    return flat
