"""A day's totals by dimension: which are stored, how events add to them, and which values a full day leaves out."""

import json
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any, NamedTuple

from storage.rules.reports.breakdown import OF_BUYERS, OF_DAY, Dimension, GroupTotals

MOST_VALUES = 100  # of a dimension on a day; visitors choose most of them
LACKING = ""  # the stored value of events that lack the dimension
OTHER = "\t"  # of the values beyond the most; no value is a tab, which does not print
STORED = tuple(each for each in Dimension if each not in {*OF_DAY, *OF_BUYERS})
STORED_AS = {each: each for each in STORED} | dict.fromkeys(OF_DAY, Dimension.HOUR)  # with what follows from a day
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


def clear(totals: DayTotals, *, clicks: bool) -> None:
    """Set the clicks, or everything else, to 0."""
    for rows in totals.values():
        for row in rows.values():
            row[:] = [0 if (place == _CLICKS) == clicks else count for place, count in enumerate(row)]


def written(rows: Mapping[str, Sequence[int]]) -> str:
    """Return a dimension's rows as JSON: a number where there are clicks alone, no zeros at the end of other rows."""
    short: dict[str, Any] = {}
    for value, row in rows.items():
        length = max((place for place, count in enumerate(row, 1) if count), default=1)
        short[value] = row[:length] if length > 1 else row[_CLICKS]
    return json.dumps(short, ensure_ascii=False, separators=(",", ":"))


def filled(row: list[int] | int) -> list[int]:
    """Return a row of a text with its zeros."""
    counts = [row] if isinstance(row, int) else row
    return counts + [0] * (len(GroupTotals._fields) - len(counts))


def capped(rows: Mapping[str, list[int]]) -> dict[str, list[int]]:
    """Return the MOST_VALUES rows with most buyers (visitors cannot invent them), then clicks, and the others' sum."""
    kept = {value: row for value, row in rows.items() if any(row)}
    others = [kept.pop(OTHER)] if OTHER in kept else []

    def rank(value: str) -> tuple[int, int]:
        return sum(kept[value][place] for place in _BUYERS), kept[value][_CLICKS]

    others += [kept.pop(value) for value in sorted(kept, key=rank, reverse=True)[MOST_VALUES:]]
    return kept | ({OTHER: [sum(column) for column in zip(*others, strict=True)]} if others else {})
