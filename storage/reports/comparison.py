"""A period of a program beside the one before: totals, trends, and on request its parts, partners and programs."""

from collections.abc import Sequence
from datetime import date, datetime
from typing import NamedTuple

from sqlalchemy import Connection

from storage.reports import performance, refunds
from storage.reports.performance import CommissionByCause
from storage.rules.periods.period import DateRangeQuery, Window
from storage.rules.reports import metrics
from storage.rules.reports.metrics import (
    MOST_PARTS,
    Figures,
    Part,
    RefundedMonth,
    TopPartner,
    Trend,
)
from storage.rules.untrusted import Untrusted


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
    before: Window | None = None,
    part: Part = Part.NONE,
    top_partners: int = 0,
    others: Sequence[int] = (),
    workspace_id: int = 0,
) -> tuple[Part, PerformanceReport]:
    """Return a program's report, and how long its parts are: longer than `part` if they would be too many.

    `others` are programs of the workspace, compared in the same windows.
    Raises ProgramNotAllowed if one is not, and the errors of `read_performance`.
    """
    report = performance.read_performance(connection, program_id, query, at=at, before=before)
    windows = (report.window, report.previous_window)
    best = performance.read_best_partners(connection, report, top_partners) if top_partners else []
    by_cause = performance.read_commission_by_cause(connection, report)
    names = performance.read_program_names(connection, workspace_id, others) if others else []
    days = [[performance.read_days(connection, each, window) for window in windows] for each in others]
    ids = (program_id, *others)
    months = [[refunds.read_refunds_by_month(connection, each, window.span) for window in windows] for each in ids]
    of_best = refunds.read_refunds_by_partner(connection, program_id, report.window.span, [each.id for each in best])
    part = metrics.fitting_part(part, report.window.length)
    sums = [[metrics.add_totals(each.values()) for each in both] for both in days]
    (totals, previous_totals), *compared = (
        [metrics.figures(*each) for each in zip(both, map(metrics.add_refunds, back), strict=True)]
        for both, back in zip([(report.current, report.previous), *sums], months, strict=True)
    )
    programs = [ComparedProgram(*other, *both) for other, both in zip(names, compared, strict=True)]
    top = [each.with_refunds(of_best.get(each.id)) for each in best]
    rows, trends = metrics.parts_of(report.days, part), metrics.trends(report.current, report.previous)
    about = (*windows, report.currency, totals, previous_totals, trends, by_cause)
    return part, PerformanceReport(*about, months[0][0][-MOST_PARTS:], rows, top, programs or None)
