"""get_performance: what a program did in a period, in totals and trends; rows on request."""

from collections.abc import Iterator
from datetime import date, timedelta
from enum import StrEnum
from itertools import groupby
from typing import Annotated

from pydantic import Field

from mcp_server.arguments import WRITTEN, Timestamp
from mcp_server.results import Result
from mcp_server.sanitize import Untrusted
from mcp_server.tools.tool import ToolRequest, tool
from storage.reading import performance
from storage.reading.performance import Day, Performance
from storage.rules import metrics, trend
from storage.rules.errors import FieldError, InsufficientScope, InvalidRange, ValidationError
from storage.rules.period import DateRangeQuery, Period
from storage.rules.scope import Scope

MOST_ROWS = 53  # a year of weeks


class Breakdown(StrEnum):
    """The length of a row's part of the period."""

    NONE = "none"
    DAY = "day"
    WEEK = "week"
    MONTH = "month"


class ReportWindow(Result):
    """Whole UTC days, both included."""

    first: date
    last: date


class MetricTotals(Result):
    """Counts, and money in cents net of refunds."""

    clicks: int
    leads: int
    conversions: int
    sales: int
    revenue_cents: int
    commission_cents: int
    partners: int


class ReportTotals(MetricTotals):
    """The totals of the whole period, and its ratios."""

    conversion_rate_percent: float
    average_order_cents: int


class MetricTrend(Result):
    """The change against the previous window; `percent` is absent if the previous value is 0."""

    direction: str
    percent: float | None = None
    previous: int


class BreakdownRow(MetricTotals):
    """The totals of a part of the period."""

    first: date


class TopPartnerRow(Result):
    """The results of one partner."""

    id: int
    name: Untrusted
    clicks: int
    leads: int
    conversions: int
    revenue_cents: int
    commission_cents: int


class PerformanceResult(Result):
    """Totals and trends; rows and partners where they were requested."""

    window: ReportWindow
    previous_window: ReportWindow
    currency: str
    totals: ReportTotals
    trends: dict[str, MetricTrend]
    rows: list[BreakdownRow]
    top_partners: list[TopPartnerRow]


@tool("Get a program's performance", Scope.PERFORMANCE_READ)
def get_performance(
    request: ToolRequest,
    *,
    program_id: int,
    period: Period = Period.SEVEN_DAYS,
    date_from: Timestamp | None = None,
    date_to: Timestamp | None = None,
    breakdown: Breakdown = Breakdown.NONE,
    top_partners: Annotated[int, Field(ge=0, le=20)] = 0,
) -> PerformanceResult:
    """Clicks, leads, conversions (first purchases), sales, revenue and commission of a period, with trends against
    the window of equal length before. period (default 7d), or date_from with date_to (ISO 8601 UTC days, at most
    1830). breakdown adds rows (made coarser if there are too many); top_partners adds the best by revenue and needs
    partners:read. Money is net of refunds, in cents of currency.
    """
    if top_partners and Scope.PARTNERS_READ not in request.key.scopes:
        raise InsufficientScope(hint="Leave top_partners out.", required_scope=Scope.PARTNERS_READ)
    report = read_report(request, program_id, DateRangeQuery(period, date_from, date_to))
    breakdown = _coarsened(breakdown, report)
    request.applied_query["breakdown"] = breakdown
    best = performance.by_partner(request.connection, program_id, report.window, limit=top_partners)
    return PerformanceResult(
        window=ReportWindow.model_validate(report.window),
        previous_window=ReportWindow.model_validate(report.previous_window),
        currency=report.currency,
        totals=_sums(report.current),
        trends={name: trend_of(name, report.current, report.previous) for name in MetricTotals.model_fields},
        rows=list(_rows(report.days, breakdown)),
        top_partners=[TopPartnerRow(id=each.partner_id, name=each.name, **each.totals._asdict()) for each in best],
    )


def read_report(request: ToolRequest, program_id: int, query: DateRangeQuery) -> Performance:
    """Return the report of the dates if they are sent, else of the period."""
    if (query.date_from is None) != (query.date_to is None):
        raise ValidationError(fields=[FieldError("date_from", "Send date_from and date_to together, or neither")])
    if query.date_from is not None:
        del request.applied_query["period"]
    try:
        return performance.get_report(request.connection, program_id, query, at=request.at)
    except InvalidRange:
        raise InvalidRange(
            "date_from and date_to must be ISO 8601, in order, and at most 1,830 days apart.",
            hint=WRITTEN,
        ) from None


def _sums(total: performance.Totals) -> ReportTotals:
    return ReportTotals(
        **total._asdict(),
        conversion_rate_percent=metrics.conversion_rate(total.conversions, total.clicks),
        average_order_cents=metrics.average_order_cents(total.revenue_cents, total.conversions),
    )


def trend_of(name: str, now: performance.Totals, before: performance.Totals) -> MetricTrend:
    """Return the change of a metric."""
    current, previous = getattr(now, name), getattr(before, name)
    percent, direction = trend.between(previous, current)
    return MetricTrend(direction=direction, percent=percent, previous=previous)


def _coarsened(breakdown: Breakdown, report: Performance) -> Breakdown:
    """Return the finest division, from the one requested, whose rows fit a result."""
    rows = {Breakdown.DAY: report.window.length, Breakdown.WEEK: report.window.length // 7 + 2}
    while rows.get(breakdown, 0) > MOST_ROWS:
        breakdown = Breakdown.WEEK if breakdown == Breakdown.DAY else Breakdown.MONTH
    return breakdown


def _rows(days: list[Day], breakdown: Breakdown) -> Iterator[BreakdownRow]:
    """Yield the totals of each part; weeks begin on Mondays, the first and last part may be shorter."""
    starts = {
        Breakdown.DAY: lambda day: day,
        Breakdown.WEEK: lambda day: day - timedelta(days=day.weekday()),
        Breakdown.MONTH: lambda day: day.replace(day=1),
    }
    if breakdown != Breakdown.NONE:
        for _, part in groupby(days, key=lambda day: starts[breakdown](day.date)):
            inside = list(part)
            totals = performance.added(day.totals for day in inside)
            yield BreakdownRow(first=inside[0].date, **totals._asdict())
