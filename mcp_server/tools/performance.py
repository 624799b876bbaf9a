"""get_performance: what a program did in a period, in totals and trends; rows on request."""

from collections.abc import Iterator
from datetime import date, timedelta
from enum import StrEnum
from itertools import groupby
from typing import Annotated

from pydantic import Field

from mcp_server.arguments import RowId, Timestamp
from mcp_server.results import Result
from mcp_server.sanitize import Untrusted
from mcp_server.tools.report import (
    ComparedProgramRow,
    MetricTotals,
    MetricTrend,
    RefundedMonthRow,
    ReportPeriod,
    ReportTotals,
    ReportWindow,
    compared_row,
    reachable,
    read_report,
    report_totals,
    trend_of,
)
from mcp_server.tools.tool import ToolRequest, tool
from storage.management import commission_totals
from storage.reports import performance
from storage.reports import refunds as refund_totals
from storage.reports.performance import Day, Performance
from storage.rules.errors import InsufficientScope, ProgramNotAllowed
from storage.rules.reports import metrics
from storage.rules.scope import Scope

MOST_ROWS = 53  # a year of weeks


class Breakdown(StrEnum):
    """The length of a row's part of the period."""

    NONE = "none"
    DAY = "day"
    WEEK = "week"
    MONTH = "month"


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
    previous_revenue_cents: int
    previous_commission_cents: int
    refunds: int | None = None
    refunded_cents: int | None = None
    reversed_cents: int | None = None
    refund_rate_percent: float | None = None


class CommissionByCauseRow(Result):
    """What leads and sales of the window earned, in cents, after refunds and rejections."""

    lead_cents: int
    sale_cents: int
    previous_lead_cents: int
    previous_sale_cents: int


class PerformanceResult(Result):
    """Totals and trends; rows and partners where they were requested."""

    window: ReportWindow
    previous_window: ReportWindow
    currency: str
    totals: ReportTotals
    previous_totals: ReportTotals
    trends: dict[str, MetricTrend]
    commission_by_cause: CommissionByCauseRow
    refunds_by_month: list[RefundedMonthRow]
    rows: list[BreakdownRow]
    top_partners: list[TopPartnerRow]
    programs: list[ComparedProgramRow] | None = None


@tool("Performance", Scope.PERFORMANCE_READ)
def get_performance(
    request: ToolRequest,
    *,
    program_id: int,
    period: ReportPeriod = ReportPeriod.SEVEN_DAYS,
    date_from: Timestamp | None = None,
    date_to: Timestamp | None = None,
    breakdown: Breakdown = Breakdown.NONE,
    top_partners: Annotated[int, Field(ge=0, le=20)] = 0,
    compare_with: Annotated[list[RowId], Field(min_length=1, max_length=20)] | None = None,
) -> PerformanceResult:
    """Clicks, leads, conversions (first purchases), sales, revenue, commission (by leads, by sales), refunds and ratios
    of a period (or date_from to date_to, UTC days) and of the one before; compare_with adds programs by id. breakdown
    adds rows; top_partners (partners:read) the best by revenue.
    """
    if top_partners and Scope.PARTNERS_READ not in request.key.scopes:
        raise InsufficientScope(hint="Leave top_partners out.", required_scope=Scope.PARTNERS_READ)
    report = read_report(request, program_id, period, date_from, date_to)
    breakdown = _coarsened(breakdown, report)
    request.applied_query["breakdown"] = breakdown
    return PerformanceResult(
        window=ReportWindow.model_validate(report.window),
        previous_window=ReportWindow.model_validate(report.previous_window),
        currency=report.currency,
        totals=report_totals(request, program_id, report.window, report.current),
        previous_totals=report_totals(request, program_id, report.previous_window, report.previous),
        trends={name: trend_of(name, report.current, report.previous) for name in MetricTotals.model_fields},
        commission_by_cause=_by_cause(request, report),
        refunds_by_month=_refunds_by_month(request, report),
        rows=list(_rows(report.days, breakdown)),
        top_partners=_top_partners(request, report, top_partners),
        programs=_compared(request, compare_with, report) if compare_with else None,
    )


def _by_cause(request: ToolRequest, report: Performance) -> CommissionByCauseRow:
    now, before = (
        commission_totals.by_cause(request.connection, report.program_id, window.span)
        for window in (report.window, report.previous_window)
    )
    return CommissionByCauseRow(
        lead_cents=now.lead_cents,
        sale_cents=now.sale_cents,
        previous_lead_cents=before.lead_cents,
        previous_sale_cents=before.sale_cents,
    )


def _refunds_by_month(request: ToolRequest, report: Performance) -> list[RefundedMonthRow]:
    months = refund_totals.by_month(request.connection, report.program_id, report.window.span)
    return [RefundedMonthRow.model_validate(each) for each in months[-MOST_ROWS:]]


def _top_partners(request: ToolRequest, report: Performance, limit: int) -> list[TopPartnerRow]:
    if not limit:
        return []
    about = (request.connection, report.program_id)
    best = performance.by_partner(*about, report.window, limit=limit)
    ids = [each.partner_id for each in best]
    earlier = performance.by_partner(*about, report.previous_window, partner_ids=ids)
    before = {each.partner_id: each.totals for each in earlier}
    back = refund_totals.by_partner(*about, report.window.span, ids)
    rows = []
    for each in best:
        refunds, previous = back.get(each.partner_id), before.get(each.partner_id, performance.Totals())
        rows.append(
            TopPartnerRow(
                **each.totals._asdict() | (refunds._asdict() if refunds else {}),
                id=each.partner_id,
                name=each.name,
                previous_revenue_cents=previous.revenue_cents,
                previous_commission_cents=previous.commission_cents,
                refund_rate_percent=refunds and metrics.refund_rate(refunds.refunded_cents, each.totals.revenue_cents),
            )
        )
    return rows


def _compared(request: ToolRequest, ids: list[int], report: Performance) -> list[ComparedProgramRow]:
    """Return other programs of the key in the same windows. Raises ProgramNotAllowed."""
    own = {program.id: program for program in reachable(request, ids)}
    if not set(ids) <= set(own):
        raise ProgramNotAllowed
    return [compared_row(request, own[program_id], report.window, report.previous_window) for program_id in ids]


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
