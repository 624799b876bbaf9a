"""Breakdowns side by side: one card for each dimension, with each group's totals in the window before."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection

from storage.reports import breakdown
from storage.reports.breakdown import MOST_GROUPS, BreakdownResult
from storage.rules.periods.period import DateRangeQuery, Window
from storage.rules.reports.breakdown import BreakdownQuery, Dimension, Filters, GroupTotals, Metric

MOST_EVENTS = 100_000  # of each kind in a window: every card reads them twice


class ComparedGroup(NamedTuple):
    """A group, and what the same values brought in the window before."""

    value: str | None
    current: GroupTotals
    previous: GroupTotals


class Card(NamedTuple):
    """A program's totals by one dimension: the groups with the most clicks, the rest, and all of them."""

    dimension: Dimension
    report: BreakdownResult
    groups: list[ComparedGroup]
    other: ComparedGroup
    total: ComparedGroup


def read_cards(
    connection: Connection,
    program_id: int,
    wanted: DateRangeQuery,
    dimensions: Sequence[Dimension],
    filters: Filters,
    *,
    rows: int,
    at: datetime,
    before: Window | None = None,
) -> list[Card]:
    """Return a card with so many rows for each dimension, compared with the window before unless another is given.

    Raises the errors of `breakdown.read_breakdown`.
    """
    cards = []
    for dimension in dimensions:
        query = BreakdownQuery((dimension,), filters, tuple(Metric), Metric.CLICKS, MOST_GROUPS)
        whole = breakdown.read_breakdown(connection, program_id, wanted, query, at=at, most_events=MOST_EVENTS)
        window = before or whole.window.previous
        days = DateRangeQuery(None, str(window.first), str(window.last))
        earlier = breakdown.read_breakdown(connection, program_id, days, query, at=at, most_events=MOST_EVENTS)
        cards.append(_card(dimension, breakdown.shortened(whole, rows), earlier))
    return cards


def _card(dimension: Dimension, report: BreakdownResult, earlier: BreakdownResult) -> Card:
    previous = {group.values: group.totals for group in earlier.groups}
    groups = [
        ComparedGroup(group.values[0], group.totals, previous.get(group.values, GroupTotals()))
        for group in report.groups
    ]
    rest = breakdown.added([earlier.total, *(breakdown.negated(group.previous) for group in groups)])
    other, total = ComparedGroup(None, report.other, rest), ComparedGroup(None, report.total, earlier.total)
    return Card(dimension, report, groups, other, total)
