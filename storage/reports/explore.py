"""Breakdowns side by side: one card for each dimension, with each group's totals in the window before."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection

from storage.reports import breakdown, performance
from storage.reports.breakdown import MOST_GROUPS
from storage.rules.periods.period import DateRangeQuery, Window
from storage.rules.reports.breakdown import NOTHING, BreakdownQuery, Dimension, Filters, GroupTotals, Metric

MOST_EVENTS = 100_000  # of each kind in a window: every card reads them twice


class ComparedGroup(NamedTuple):
    """A group, and what the same values brought in the window before."""

    value: str | None
    current: GroupTotals
    previous: GroupTotals


class Card(NamedTuple):
    """A program's totals by one dimension: the groups with the most clicks, and the sum of the others."""

    dimension: Dimension
    currency: str
    window: Window
    groups: list[ComparedGroup]
    other_groups: int
    other: ComparedGroup


def read_cards(
    connection: Connection,
    program_id: int,
    wanted: DateRangeQuery,
    dimensions: Sequence[Dimension],
    filters: Filters,
    *,
    rows: int,
    at: datetime,
) -> list[Card]:
    """Return a card with so many rows for each dimension, compared with the range's or the one before.

    Raises the errors of `breakdown.read_breakdown`.
    """
    currency, (_, window) = performance.choose_period(connection, program_id, wanted, at=at)
    cards = []
    for dimension in dimensions:
        query = BreakdownQuery((dimension,), filters, tuple(Metric), Metric.CLICKS, MOST_GROUPS)
        now, earlier = (
            breakdown.read_groups(connection, program_id, each, query, at=at, most_events=MOST_EVENTS)
            for each in (window, wanted.before or window.previous)
        )
        previous = {group.values: group.totals for group in earlier.groups}
        shown = now.shortened(rows)
        groups = [
            ComparedGroup(each.values[0], each.totals, previous.get(each.values, NOTHING)) for each in shown.groups
        ]
        sums = (
            whole - sum(parts) for whole, *parts in zip(earlier.total, *(each.previous for each in groups), strict=True)
        )
        other = ComparedGroup(None, shown.other, GroupTotals(*sums))
        cards.append(Card(dimension, currency, window, groups, shown.other_groups, other))
    return cards
