"""The reports as JSON: performance as specified (money in dollars), and breakdowns by dimension (money in cents)."""

from datetime import date as calendar_date
from datetime import datetime
from functools import partial
from typing import Annotated, Any, Self

from pydantic import PlainSerializer, WithJsonSchema

from presentation import queries
from presentation.api_request import ApiRequest
from presentation.operations import operation
from presentation.view import View, with_fields, with_fields_of
from storage.reports.breakdown import BreakdownResult, read_breakdown
from storage.reports.performance import Performance, read_performance
from storage.rules.errors import InvalidPeriod, InvalidRange
from storage.rules.money import dollars
from storage.rules.periods.period import REPORTED, DateRangeQuery, Period, Window
from storage.rules.reports import metrics
from storage.rules.reports.breakdown import BreakdownQuery, Dimension, GroupTotals, Metric, label
from storage.rules.reports.breakdown_query import MOST_ROWS, NONE, query
from storage.rules.reports.metrics import Direction, Totals

FIGURES = ("clicks", "leads", "conversions", "revenue", "partners", "sales", "commission")  # with a trend each
MONEY = {"revenue": "revenue_cents", "commission": "commission_cents"}  # of them, with its name in Totals
Number = Annotated[int | float, WithJsonSchema({"type": "number"})]  # written as it was computed: 5 stays 5
# with its milliseconds, always: 2026-01-31T23:59:59.999Z
_WITH_MILLIS = PlainSerializer(lambda at: at.isoformat(timespec="milliseconds").replace("+00:00", "Z"), return_type=str)
Timestamp = Annotated[datetime, _WITH_MILLIS]


@partial(with_fields, fields={name: (Number if name in MONEY else int, ...) for name in FIGURES})
class ReportRowView(View):
    """One UTC day; `sales` is always 0."""

    date: calendar_date
    period: calendar_date


class TrendView(View):
    """The change of a metric; `trend` is null if the previous value is 0."""

    trend: Number | None
    trendDirection: Direction  # noqa: N815 - the specification's names, here and below
    previous: Number


@partial(with_fields, fields={f"{name}Trend": (TrendView, ...) for name in FIGURES})
class ReportMetricsView(View):
    """The sums of the rows, and their trends."""

    totalClicks: int  # noqa: N815
    totalLeads: int  # noqa: N815
    totalConversions: int  # noqa: N815
    totalRevenue: Number  # noqa: N815
    conversionRate: Number  # noqa: N815
    averageOrderValue: Number  # noqa: N815
    totalPartners: int  # noqa: N815
    totalSales: int  # noqa: N815
    totalPartnersCommission: Number  # noqa: N815


class ReportRangeView(View):
    """The first and the last millisecond of a window."""

    dateFrom: Timestamp  # noqa: N815
    dateTo: Timestamp  # noqa: N815


class ReportMetaView(ReportRangeView):
    """The period of the report and the period it is compared with."""

    period: Annotated[Period, WithJsonSchema({"type": "string", "enum": list(REPORTED)})]
    previousPeriod: ReportRangeView  # noqa: N815


class ReportView(View):
    """Daily totals, metrics and trends of a program."""

    data: list[ReportRowView]
    metrics: ReportMetricsView
    meta: ReportMetaView

    @classmethod
    def of(cls, row: Performance) -> Self:
        rows = [{"date": day.date, "period": day.date, **_shown(day.totals), "sales": 0} for day in row.days]
        meta = {"period": row.period, **_range(row.scope.window), "previousPeriod": _range(row.before.window)}
        total, changes = row.current, metrics.trends(row.current, row.previous)
        shown, before = _shown(total), _shown(row.previous)
        figures = {
            **{f"total{name.title()}": value for name, value in shown.items() if name != "commission"},
            "totalPartnersCommission": shown["commission"],
            "conversionRate": metrics.conversion_rate(total.conversions, total.clicks),
            "averageOrderValue": dollars(metrics.average_order_cents(total.revenue_cents, total.conversions)),
        }
        for name in FIGURES:
            change = changes[MONEY.get(name, name)]
            trend = {"trend": change.percent, "trendDirection": change.direction, "previous": before[name]}
            figures[f"{name}Trend"] = trend
        return cls.model_validate({"data": rows, "metrics": figures, "meta": meta})


Figures = dict[Metric, Number]


class BreakdownGroupView(View):
    """A group: its value of each dimension (null: the events lack it), and its metrics. Visitors wrote the values."""

    values: dict[Dimension, str | None]
    metrics: Figures


class BreakdownOthersView(View):
    """The sum of the groups beyond `limit`."""

    groups: int
    metrics: Figures


@with_fields_of(BreakdownQuery, leave_out={"metrics"}, filters=dict[Dimension, str])
class BreakdownMetaView(View):
    """The applied query, with the first and the last UTC day."""

    currency: str
    first: calendar_date
    last: calendar_date


class BreakdownView(View):
    """A program's report by one or two dimensions; money is in cents of `meta.currency`."""

    data: list[BreakdownGroupView]
    other: BreakdownOthersView
    total: Figures
    meta: BreakdownMetaView

    @classmethod
    def of(cls, row: BreakdownResult) -> Self:
        asked = row.query

        def figures(totals: GroupTotals) -> Figures:
            return {metric: totals.figure(metric) for metric in asked.metrics}

        groups = [
            {"values": dict(zip(asked.by, group.values, strict=True)), "metrics": figures(group.totals)}
            for group in row.ranked.groups
        ]
        meta = {
            **asked._asdict(),
            "currency": row.currency,
            **row.window._asdict(),
            "filters": {each.dimension: label(each.dimension, each.value) or NONE for each in asked.filters},
        }
        other = {"groups": row.ranked.other_groups, "metrics": figures(row.ranked.other.totals)}
        total = figures(row.ranked.total.totals)
        return cls.model_validate({"data": groups, "other": other, "total": total, "meta": meta})


def _shown(totals: Totals) -> dict[str, Any]:
    """Return totals under the specification's names."""
    figures = {name: getattr(totals, MONEY.get(name, name)) for name in FIGURES}
    return figures | {name: dollars(figures[name]) for name in MONEY}


def _range(window: Window) -> dict[str, datetime]:
    return {"dateFrom": window.starts_at, "dateTo": window.ends_at}


RANGE = {
    "period": "7d, 30d, 90d or all; 7d by default.",
    "dateFrom": "ISO 8601; with dateTo, in place of period.",
    "dateTo": "ISO 8601; with dateFrom, in place of period.",
}
BREAKDOWN = {
    "by": f"The dimension: {', '.join(Dimension)}.",
    "second": "A further dimension: a row for each combination.",
    **RANGE,
    "metrics": f"Some of {', '.join(Metric)}, separated by commas; all by default.",
    "sort": "The metric to sort by, most first; the first of metrics by default.",
    "limit": f"Rows, 1 to {MOST_ROWS}; 25 by default. `other` has the sum of the rest.",
    **{each.value: f"Only this {each.value.replace('_', ' ')}; `{NONE}` for what lacks one." for each in Dimension},
}


@operation(InvalidPeriod, InvalidRange, query=RANGE)
async def get_performance(call: ApiRequest) -> ReportView:
    """Return daily totals, metrics and trends of a program."""
    return ReportView.of(await call.report(read_performance, _asked(call), at=call.at))


@operation(InvalidPeriod, InvalidRange, query=BREAKDOWN)
async def get_breakdown(call: ApiRequest) -> BreakdownView:
    """Return a program's report by one or two dimensions."""
    sent = call.request.query_params
    filters = {each.value: text for each in Dimension if (text := queries.text(sent, each.value)) is not None}
    wanted = query(
        sent.get("by"),
        sent.get("second"),
        filters=filters,
        shown=list(filter(None, sent.get("metrics", "").split(","))),
        sort=sent.get("sort"),
        limit=sent.get("limit", "25"),
    )
    return BreakdownView.of(await call.report(read_breakdown, _asked(call), wanted, at=call.at))


def _asked(call: ApiRequest) -> DateRangeQuery:
    period, first, last = (call.request.query_params.get(name) for name in RANGE)
    return DateRangeQuery(period, first, last)
