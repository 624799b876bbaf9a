"""A period of a program beside the one before: totals, ratios and trends, parts of the period, partners, programs."""

from collections.abc import Callable, Iterable, Sequence
from datetime import date, datetime, timedelta
from enum import StrEnum
from itertools import groupby
from typing import NamedTuple

from sqlalchemy import Connection, func, select

from storage.engine import pagination
from storage.management.commissions import net_cents
from storage.reports import performance, refunds
from storage.reports.performance import Day, Performance, Totals
from storage.reports.refunds import RefundedMonth, RefundTotals
from storage.rules.errors import ProgramNotAllowed
from storage.rules.periods.period import DateRangeQuery, Window
from storage.rules.reports import metrics
from storage.rules.reports.metrics import Trend
from storage.rules.untrusted import Untrusted
from storage.tables import commissions, programs

MOST_PARTS = 53  # a year of weeks


class Part(StrEnum):
    """The length of a part of a period."""

    NONE = "none"
    DAY = "day"
    WEEK = "week"
    MONTH = "month"


class ReportTotals(NamedTuple):
    """The totals of a window, its ratios, and the refunds that were made in it. Money is in cents, net of refunds."""

    clicks: int
    leads: int
    conversions: int
    sales: int
    revenue_cents: int
    commission_cents: int
    partners: int
    conversion_rate_percent: float
    average_order_cents: int
    earnings_per_click_cents: float
    refunds: int
    refunded_cents: int
    reversed_cents: int
    refund_rate_percent: float


class PeriodPart(NamedTuple):
    """The totals of a part of the period that begins on `first`."""

    clicks: int
    leads: int
    conversions: int
    sales: int
    revenue_cents: int
    commission_cents: int
    partners: int
    first: date


class CommissionByCause(NamedTuple):
    """What leads and sales of the window earned, in cents, after refunds and rejections."""

    lead_cents: int
    sale_cents: int
    previous_lead_cents: int
    previous_sale_cents: int


class TopPartner(NamedTuple):
    """The results of one partner; the refunds are None without any."""

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


class ComparedProgram(NamedTuple):
    """A further program in the same windows; money is in cents of its own currency."""

    id: int
    name: Untrusted
    currency: str
    totals: ReportTotals
    previous_totals: ReportTotals


class PerformanceReport(NamedTuple):
    """A program's report as assistants read it; `rows` and `top_partners` are there on request."""

    window: Window
    previous_window: Window
    currency: str
    totals: ReportTotals
    previous_totals: ReportTotals
    trends: dict[str, Trend]
    commission_by_cause: CommissionByCause
    refunds_by_month: list[RefundedMonth]
    rows: list[PeriodPart]
    top_partners: list[TopPartner]
    programs: list[ComparedProgram] | None = None


def compare(
    connection: Connection,
    program_id: int,
    query: DateRangeQuery,
    *,
    at: datetime,
    before: Window | None = None,
    part: Part = Part.NONE,
    top_partners: int = 0,
    others: Sequence[int] = (),
    workspace_id: int | None = None,
) -> tuple[Part, PerformanceReport]:
    """Return a program's report, and how long its parts are: longer than `part` if they would be too many.

    `others` are programs of the workspace, compared in the same windows.
    Raises ProgramNotAllowed if one is not of the workspace, and the errors of `read_performance`.
    """
    report = performance.read_performance(connection, program_id, query, at=at, before=before)
    window, previous = report.window, report.previous_window
    months = [refunds.read_refunds_by_month(connection, program_id, each.span) for each in (window, previous)]
    totals, previous_totals = (
        _with_ratios(sums, refunds.add_refunds(back))
        for sums, back in zip((report.current, report.previous), months, strict=True)
    )
    part = _fitting(part, window.length)
    return part, PerformanceReport(
        window=window,
        previous_window=previous,
        currency=report.currency,
        totals=totals,
        previous_totals=previous_totals,
        trends=trends(report.current, report.previous),
        commission_by_cause=_read_by_cause(connection, report),
        refunds_by_month=months[0][-MOST_PARTS:],
        rows=parts(report.days, part),
        top_partners=_read_top_partners(connection, report, top_partners) if top_partners else [],
        programs=_read_programs(connection, workspace_id, others, window, previous) if others else None,
    )


def read_report_totals(connection: Connection, program_id: int, window: Window) -> ReportTotals:
    """Return the totals of a window with its ratios and refunds."""
    months = refunds.read_refunds_by_month(connection, program_id, window.span)
    return _with_ratios(performance.read_totals(connection, program_id, window), refunds.add_refunds(months))


def trends(current: Totals, previous: Totals) -> dict[str, Trend]:
    """Return the change of each metric."""
    return {name: metrics.trend(getattr(previous, name), getattr(current, name)) for name in Totals._fields}


def parts(days: Iterable[Day], part: Part) -> list[PeriodPart]:
    """Return the totals of each part; weeks begin on Mondays, the first and last part may be shorter."""
    starts: dict[Part, Callable[[date], date]] = {
        Part.DAY: lambda day: day,
        Part.WEEK: lambda day: day - timedelta(days=day.weekday()),
        Part.MONTH: lambda day: day.replace(day=1),
    }
    if part == Part.NONE:
        return []
    groups = (list(group) for _, group in groupby(days, key=lambda day: starts[part](day.date)))
    return [PeriodPart(*performance.add_totals(day.totals for day in inside), inside[0].date) for inside in groups]


def _fitting(part: Part, days: int) -> Part:
    """Return the shortest part, from the one requested, of which there are not too many."""
    counts = {Part.DAY: days, Part.WEEK: days // 7 + 2}
    while counts.get(part, 0) > MOST_PARTS:
        part = Part.WEEK if part == Part.DAY else Part.MONTH
    return part


def _with_ratios(sums: Totals, back: RefundTotals) -> ReportTotals:
    ratios = (sums.conversion_rate_percent, sums.average_order_cents, sums.earnings_per_click_cents)
    return ReportTotals(*sums, *ratios, *back, metrics.refund_rate(back.refunded_cents, sums.revenue_cents))


def _read_by_cause(connection: Connection, report: Performance) -> CommissionByCause:
    """Return what the leads and the sales earned whose commissions were created in the windows."""
    earned = commissions.c
    by_lead = earned.lead_id.is_not(None)
    grouped = select(by_lead, func.sum(net_cents())).where(earned.program_id == report.program_id).group_by(by_lead)
    spans = (report.window.span, report.previous_window.span)
    created = [grouped.where(*pagination.within(earned.id, earned.created_at, span)) for span in spans]
    now, before = (dict[bool, int](connection.execute(each).all()) for each in created)
    return CommissionByCause(*(int(sums.get(cause, 0)) for sums in (now, before) for cause in (True, False)))


def _read_top_partners(connection: Connection, report: Performance, limit: int) -> list[TopPartner]:
    about = (connection, report.program_id)
    best = performance.read_partners(*about, report.window, limit=limit)
    ids = [each.partner_id for each in best]
    earlier = performance.read_partners(*about, report.previous_window, partner_ids=ids)
    before = {each.partner_id: each.totals for each in earlier}
    back = refunds.read_refunds_by_partner(*about, report.window.span, ids)
    rows = []
    for each in best:
        sums, previous = each.totals, before.get(each.partner_id, Totals())
        brought = (sums.clicks, sums.leads, sums.conversions, sums.revenue_cents, sums.commission_cents)
        row = TopPartner(each.partner_id, each.name, *brought, previous.revenue_cents, previous.commission_cents)
        if refunded := back.get(each.partner_id):
            rate = metrics.refund_rate(refunded.refunded_cents, sums.revenue_cents)
            row = row._replace(**refunded._asdict(), refund_rate_percent=rate)
        rows.append(row)
    return rows


def _read_programs(
    connection: Connection, workspace_id: int | None, ids: Sequence[int], window: Window, previous: Window
) -> list[ComparedProgram]:
    mine = select(programs.c.id, programs.c.name, programs.c.currency).where(programs.c.workspace_id == workspace_id)
    own = {row.id: row for row in connection.execute(mine.where(programs.c.id.in_(ids)))}
    if not set(ids) <= own.keys():
        raise ProgramNotAllowed
    return [
        ComparedProgram(*own[each], *(read_report_totals(connection, each, days) for days in (window, previous)))
        for each in ids
    ]
