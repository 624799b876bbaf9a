"""A day's totals by dimension: which are stored, how events add to them, and which values a full day leaves out."""

import json
from collections.abc import Mapping, Sequence
from datetime import date
from typing import NamedTuple

from storage.rules.reports.breakdown import OF_BUYERS, OF_DAY, Dimension, GroupTotals

MOST_VALUES = 100  # of a dimension on a day; visitors choose most of them
LACKING = ""  # the stored value of events that lack the dimension
OTHER = "\t"  # of the values beyond the most; no value is a tab, which does not print
STORED = tuple(each for each in Dimension if each not in {*OF_DAY, *OF_BUYERS})
_CLICKS = GroupTotals._fields.index("clicks")
_BUYERS = [GroupTotals._fields.index(name) for name in ("sales", "conversions", "leads")]
DayTotals = dict[Dimension, dict[str, list[int]]]  # by dimension and value, in the order of GroupTotals


class GroupedDay(NamedTuple):
    """How far a day is grouped: `clicks` of those before the click id `until`, and the rollup's `changes`."""

    until: str
    clicks: int
    changes: int


class DayStep(NamedTuple):
    """A day's new totals, and how far it is grouped before (None: not at all) and after."""

    program_id: int
    day: date
    before: GroupedDay | None
    after: GroupedDay
    totals: DayTotals


def add(rows: dict[str, list[int]], value: str | int | None, counts: Sequence[int]) -> None:
    """Add counts, in the order of GroupTotals, to a dimension's value."""
    stored = str(value) if value is not None else LACKING
    rows[stored] = [*map(sum, zip(rows.get(stored, [0] * len(counts)), counts, strict=True))]


def clear(totals: DayTotals, *, clicks: bool) -> None:
    """Set the clicks, or everything else, to 0."""
    for rows in totals.values():
        for row in rows.values():
            row[:] = [0 if (place == _CLICKS) == clicks else count for place, count in enumerate(row)]


def written(rows: Mapping[str, Sequence[int]]) -> str:
    """Return a dimension's rows as JSON: a number where there are clicks alone, no zeros at the end of other rows."""
    return json.dumps({value: _short(row) for value, row in rows.items()}, ensure_ascii=False, separators=(",", ":"))


def read(stored: str) -> dict[str, list[int] | int]:
    """Return the rows of a text as it has them."""
    rows: dict[str, list[int] | int] = json.loads(stored)
    return rows


def filled(row: list[int] | int) -> list[int]:
    """Return a row of a text with its zeros."""
    counts = [row] if isinstance(row, int) else row
    return counts + [0] * (len(GroupTotals._fields) - len(counts))


def capped(rows: Mapping[str, list[int]]) -> dict[str, list[int]]:
    """Return MOST_VALUES rows of a dimension, and the sum of the others as a value of its own.

    Those with most buyers are kept, whom a visitor cannot invent, then those with most clicks.
    """
    kept = {value: row for value, row in rows.items() if any(row)}
    others = [kept.pop(OTHER)] if OTHER in kept else []

    def rank(value: str) -> tuple[int, int]:
        return sum(kept[value][place] for place in _BUYERS), kept[value][_CLICKS]

    others += [kept.pop(value) for value in sorted(kept, key=rank, reverse=True)[MOST_VALUES:]]
    return kept | ({OTHER: [sum(column) for column in zip(*others, strict=True)]} if others else {})


def _short(row: Sequence[int]) -> Sequence[int] | int:
    length = len(row)
    while length > 1 and not row[length - 1]:
        length -= 1
    return row[:length] if length > 1 else row[_CLICKS]
