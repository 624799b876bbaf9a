"""A breakdown as JSON: a row for each group, the sum of the others, and the total."""

from datetime import date
from typing import Self

from presentation.report import Number
from presentation.view import View
from storage.reports.breakdown import BreakdownResult
from storage.rules.reports.breakdown import Dimension, GroupTotals, Metric, label
from storage.rules.reports.breakdown_query import NONE

Figures = dict[Metric, Number]


class BreakdownGroupView(View):
    """A group: its value of each dimension (null: the events lack it), and its metrics. Visitors wrote the values."""

    values: dict[Dimension, str | None]
    metrics: Figures


class BreakdownOthersView(View):
    """The sum of the groups beyond `limit`."""

    groups: int
    metrics: Figures


class BreakdownMetaView(View):
    """The applied query, with the first and the last UTC day."""

    currency: str
    first: date
    last: date
    by: list[Dimension]
    filters: dict[Dimension, str]
    sort: Metric
    limit: int


class BreakdownView(View):
    """A program's report by one or two dimensions; money is in cents of `meta.currency`."""

    data: list[BreakdownGroupView]
    other: BreakdownOthersView
    total: Figures
    meta: BreakdownMetaView

    @classmethod
    def of(cls, row: BreakdownResult) -> Self:
        """Return the view of a breakdown."""
        query = row.query

        def figures(totals: GroupTotals) -> Figures:
            return {metric: totals.figure(metric) for metric in query.metrics}

        groups = [
            BreakdownGroupView(values=dict(zip(query.by, group.values, strict=True)), metrics=figures(group.totals))
            for group in row.ranked.groups
        ]
        meta = BreakdownMetaView(
            currency=row.currency,
            first=row.window.first,
            last=row.window.last,
            by=list(query.by),
            filters={each.dimension: label(each.dimension, each.value) or NONE for each in query.filters},
            sort=query.sort,
            limit=query.limit,
        )
        other = BreakdownOthersView(groups=row.ranked.other_groups, metrics=figures(row.ranked.other))
        return cls(data=groups, other=other, total=figures(row.ranked.total), meta=meta)
