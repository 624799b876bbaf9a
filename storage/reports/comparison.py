"""A period of a program beside the one before: totals, trends, and on request its parts, partners and programs."""

from collections.abc import Sequence
from datetime import date, datetime
from typing import NamedTuple

from sqlalchemy import Connection, select

from storage.reports import partner_results, performance
from storage.reports.performance import CommissionByCause
from storage.rules.errors import ProgramNotAllowed
from storage.rules.periods.period import DateRangeQuery, Window
from storage.rules.reports import metrics
from storage.rules.reports.metrics import MOST_PARTS, Figures, Part, RefundedMonth, Totals, Trend
from storage.rules.untrusted import Untrusted, UntrustedValues
from storage.tables import programs


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
    top_partners: list[UntrustedValues]
    other_partners: UntrustedValues | None = None
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
    months, back = (performance.read_refunds_by_month(connection, program_id, each) for each in windows)
    imported, before = (performance.count_imported(connection, program_id, each) for each in windows)
    by_cause = performance.read_commission_by_cause(connection, report)
    best, rest = list[UntrustedValues](), None
    if top_partners:
        refunded = performance.read_refunds_by_partner(connection, program_id, report.window)
        best, rest = partner_results.read_best(connection, report, refunded, top_partners)
    compared = _programs(connection, workspace_id, others, windows) if others else None
    part, rows = metrics.parts_of(report.days, part)
    return part, PerformanceReport(
        *windows,
        report.currency,
        totals=metrics.figures(report.current, metrics.added_months(months), imported),
        previous_totals=metrics.figures(report.previous, metrics.added_months(back), before),
        trends=metrics.trends(report.current, report.previous),
        commission_by_cause=by_cause,
        refunds_by_month=months[-MOST_PARTS:],
        rows=rows,
        top_partners=best,
        other_partners=rest,
        programs=compared,
    )


def read_figures(connection: Connection, program_id: int, window: Window) -> Figures:
    """Return a program's totals of a window with their ratios, and the refunds that were made in it."""
    days = performance.read_days(connection, program_id, window).values()
    months = performance.read_refunds_by_month(connection, program_id, window)
    imported = performance.count_imported(connection, program_id, window)
    return metrics.figures(metrics.added(Totals(), days), metrics.added_months(months), imported)


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
