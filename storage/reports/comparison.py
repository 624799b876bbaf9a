"""A period of a program beside the one before: totals, trends, and on request its parts, partners and programs."""

from collections.abc import Sequence
from datetime import date, datetime
from typing import NamedTuple

from sqlalchemy import Connection, func, select

from storage.engine.cursors import within
from storage.lists.commissions import net_cents
from storage.reports import performance, refunds
from storage.reports.performance import Performance
from storage.rules.errors import ProgramNotAllowed
from storage.rules.periods.period import DateRangeQuery, Window
from storage.rules.reports import metrics
from storage.rules.reports.metrics import MOST_PARTS, Figures, Part, RefundedMonth, Totals, Trend
from storage.rules.untrusted import Untrusted
from storage.tables import commissions, programs


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
    totals: Figures
    previous_totals: Figures


class PerformanceReport(NamedTuple):
    """A program's report as assistants read it; `rows` and `top_partners` are there on request."""

    window: Window
    previous_window: Window
    currency: str
    totals: Figures
    previous_totals: Figures
    trends: dict[str, Trend]
    commission_by_cause: CommissionByCause
    refunds_by_month: list[RefundedMonth]
    rows: list[dict[str, int | date]]
    top_partners: list[TopPartner]
    programs: list[ComparedProgram] | None = None


def compare(
    connection: Connection,
    program_id: int,
    query: DateRangeQuery,
    *,
    at: datetime,
    part: Part = Part.NONE,
    top_partners: int = 0,
    others: Sequence[int] = (),
    workspace_id: int = 0,
) -> tuple[Part, PerformanceReport]:
    """Return a program's report, and how long its parts are: longer than `part` if they would be too many.

    `others` are programs of the workspace, compared in the same windows.
    Raises ProgramNotAllowed if one is not, and the errors of `read_performance`.
    """
    report = performance.read_performance(connection, program_id, query, at=at)
    windows = (report.window, report.previous_window)
    months = refunds.read_refunds_by_month(connection, program_id, report.window.span)
    back = refunds.read_refunds(connection, program_id, report.previous_window.span)
    part = metrics.fitting_part(part, report.window.length)
    return part, PerformanceReport(
        *windows,
        report.currency,
        totals=metrics.figures(report.current, metrics.added_months(months)),
        previous_totals=metrics.figures(report.previous, back),
        trends=metrics.trends(report.current, report.previous),
        commission_by_cause=_commission_by_cause(connection, report),
        refunds_by_month=months[-MOST_PARTS:],
        rows=metrics.parts_of(report.days, part),
        top_partners=_top_partners(connection, report, top_partners) if top_partners else [],
        programs=_programs(connection, workspace_id, others, windows) if others else None,
    )


def read_figures(connection: Connection, program_id: int, window: Window) -> Figures:
    """Return a program's totals of a window with their ratios, and the refunds that were made in it."""
    days = performance.read_days(connection, program_id, window).values()
    return metrics.figures(metrics.added(Totals(), days), refunds.read_refunds(connection, program_id, window.span))


def _programs(
    connection: Connection, workspace_id: int, ids: Sequence[int], windows: Sequence[Window]
) -> list[ComparedProgram]:
    mine = select(programs.c.id, programs.c.name, programs.c.currency).where(programs.c.workspace_id == workspace_id)
    own = {row.id: row for row in connection.execute(mine.where(programs.c.id.in_(ids)))}
    if not set(ids) <= own.keys():
        raise ProgramNotAllowed
    return [
        ComparedProgram(*own[each], *(read_figures(connection, each, window) for window in windows)) for each in ids
    ]


def _top_partners(connection: Connection, report: Performance, limit: int) -> list[TopPartner]:
    """Return the partners with the most revenue."""
    best = performance.read_partners(connection, report.program_id, report.window, limit=limit)
    ids = [each.partner_id for each in best]
    earlier = performance.read_partners(connection, report.program_id, report.previous_window, partner_ids=ids)
    before = {each.partner_id: each.totals for each in earlier}
    refunded = refunds.read_refunds_by_partner(connection, report.program_id, report.window.span, ids)
    rows = []
    for partner_id, name, _, sums in best:
        brought = (sums.clicks, sums.leads, sums.conversions, sums.revenue_cents, sums.commission_cents)
        previous = before.get(partner_id, Totals())
        row = TopPartner(partner_id, name, *brought, previous.revenue_cents, previous.commission_cents)
        if back := refunded.get(partner_id):
            rate = metrics.refund_rate(back.refunded_cents, sums.revenue_cents)
            row = row._replace(**back._asdict(), refund_rate_percent=rate)
        rows.append(row)
    return rows


def _commission_by_cause(connection: Connection, report: Performance) -> CommissionByCause:
    """Return what the leads and the sales earned whose commissions were created in the windows."""
    earned = commissions.c
    by_lead = earned.lead_id.is_not(None)
    grouped = select(by_lead, func.sum(net_cents())).where(earned.program_id == report.program_id).group_by(by_lead)
    spans = (report.window.span, report.previous_window.span)
    created = [grouped.where(*within(earned.id, earned.created_at, span)) for span in spans]
    now, before = (dict[bool, int](connection.execute(each).all()) for each in created)
    return CommissionByCause(*(int(sums.get(cause, 0)) for sums in (now, before) for cause in (True, False)))
