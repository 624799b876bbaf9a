"""A period of a program beside the one before, with its parts, its partners and other programs on request."""

from collections.abc import Sequence
from datetime import datetime
from itertools import groupby
from sys import maxsize
from typing import Any, NamedTuple

from sqlalchemy import Connection, select

from storage.engine.statements import read_statement
from storage.lists.partners import FIGURES
from storage.reports import performance
from storage.reports.performance import Performance, ReportScope
from storage.rules.errors import ProgramNotAllowed
from storage.rules.periods.period import DateRangeQuery, Month
from storage.rules.reports import metrics
from storage.rules.reports.metrics import MOST_PARTS, Figures, Part, RefundedMonth, RefundTotals, Totals, added
from storage.tables import programs
from storage.tables.columns import DAY_MILLIS

_BROUGHT, _REFUNDED, _SOLD, _IMPORTED, _EARNED = map(
    read_statement,
    ("partners_brought", "partners_refunded", "sales_sold", "conversions_imported", "earned_by_cause"),
)


class PartnerResult(NamedTuple):
    """One partner's totals in a window; money is in cents of the program's currency."""

    partner_id: int
    name: str
    code: str
    totals: Totals


class SoldTotals(NamedTuple):
    """Sales that were made in a window, and how many were refunded since, in part or wholly; cents of the program."""

    sales: int = 0
    cents: int = 0
    refunded_sales: int = 0
    refunded_cents: int = 0
    wholly_refunded_sales: int = 0
    wholly_refunded_cents: int = 0

    @property
    def figures(self) -> Figures:
        """The totals with the share of the sales, and of their money, that was refunded."""
        refunded_sales = metrics.refund_rate(self.refunded_sales, self.sales - self.refunded_sales)
        refunded = metrics.refund_rate(self.refunded_cents, self.cents - self.refunded_cents)
        return {**self._asdict(), "refunded_sales_percent": refunded_sales, "refunded_percent": refunded}


def compare(
    connection: Connection,
    program_id: int,
    query: DateRangeQuery,
    *,
    at: datetime,
    part: Part = Part.NONE,  # the length of its parts, unless they are too many
    top_partners: int = 0,
    others: Sequence[int] = (),  # programs of the workspace to compare, in cents of their own currencies
    workspace_id: int = 0,
) -> tuple[Part, dict[str, Any]]:
    """Return how long the report's parts are, and the report. Raises ProgramNotAllowed, as `read_performance` does."""
    report = performance.read_performance(connection, program_id, query, at=at)
    scopes = (report.scope, report.before)
    both = zip(scopes, (report.current, report.previous), strict=True)
    (totals, months), (before, _) = (read_figures(connection, scope, sums) for scope, sums in both)
    beside = _programs(connection, workspace_id, others, scopes) if others else None
    best, rest = _read_best(connection, report, top_partners) if top_partners else ([], None)
    part, rows = metrics.parts_of(report.days, part)
    causes: dict[str, int] = {}
    for start, scope in zip(("", "previous_"), scopes, strict=True):
        cents = dict[str, Any](connection.execute(_EARNED, scope.values).all())
        causes |= {f"{start}{name}_cents": int(cents.get(name, 0)) for name in ("lead", "sale")}
    return part, {
        "window": report.scope.window,
        "previous_window": report.before.window,
        "currency": report.currency,
        "totals": totals,
        "previous_totals": before,
        "trends": metrics.trends(report.current, report.previous),
        "commission_by_cause": causes,
        "refunds_by_month": months[-MOST_PARTS:],
        "rows": rows,
        "top_partners": best,
        "other_partners": rest,
        "programs": beside,
    }


def read_figures(
    connection: Connection, scope: ReportScope, sums: Totals | None = None
) -> tuple[Figures, list[RefundedMonth]]:
    """Return the totals of a window (`sums`, if they were read) with ratios and refunds, and the refunds by month."""
    if sums is None:
        sums = added(Totals(), performance.read_days(connection, scope).values())
    made = performance.read_refunds_by_time(connection, scope, DAY_MILLIS)
    months = [
        RefundedMonth(
            str(month),
            max(scope.window.first, month.window.first),
            min(scope.window.last, month.window.last),
            *added(RefundTotals(), (made[at] for at in days)),
        )
        for month, days in groupby(made, key=Month.of)
    ]
    imported = connection.execute(_IMPORTED, scope.values).scalar_one()
    return metrics.figures(sums, added(RefundTotals(), made.values()), imported), months


def _programs(
    connection: Connection, workspace_id: int, ids: Sequence[int], scopes: Sequence[ReportScope]
) -> list[dict[str, Any]]:
    mine = select(programs.c.id, programs.c.name, programs.c.currency).where(programs.c.workspace_id == workspace_id)
    own = {row.id: row for row in connection.execute(mine.where(programs.c.id.in_(ids)))}
    if not set(ids) <= own.keys():
        raise ProgramNotAllowed
    rows = []
    for each in ids:
        both = (read_figures(connection, scope._replace(program_id=each))[0] for scope in scopes)
        rows.append(own[each]._asdict() | dict(zip(("totals", "previous_totals"), both, strict=True)))
    return rows


def _read_best(
    connection: Connection, report: Performance, limit: int
) -> tuple[list[dict[str, Any]], dict[str, Any] | None]:
    """Return the results of the partners with the most revenue, and of all others; `sold` is what became of sales."""
    brought = read_partners(connection, report.scope)
    before = {each.partner_id: each.totals for each in read_partners(connection, report.before)}
    totals = {each.partner_id: each.totals for each in brought}
    sold = read_sold(connection, report.scope)
    made = connection.execute(_REFUNDED, report.scope.values)
    back = {partner_id: RefundTotals(*map(int, sums)) for partner_id, *sums in made}

    def results(ids: Sequence[int]) -> dict[str, Any]:
        sums, previous = (added(Totals(), (each[one] for one in ids if one in each)) for each in (totals, before))
        refunded = added(RefundTotals(), (back[each] for each in ids if each in back))
        return {
            **{name: getattr(sums, name) for name in FIGURES},
            "previous_revenue_cents": previous.revenue_cents,
            "previous_commission_cents": previous.commission_cents,
            **refunded._asdict(),
            "refund_rate_percent": metrics.refund_rate(refunded.refunded_cents, sums.revenue_cents),
            "sold": added(SoldTotals(), (sold[each] for each in ids if each in sold)).figures,
        }

    rest = list(dict.fromkeys([*totals, *before, *back]))[limit:] if len(brought) > limit else []
    best = [{"id": each.partner_id, "name": each.name, **results([each.partner_id])} for each in brought[:limit]]
    return best, results(rest) if rest else None


def read_sold(connection: Connection, scope: ReportScope) -> dict[int, SoldTotals]:
    """Return the sales of each partner, or of one, that were made in a window."""
    rows = connection.execute(_SOLD, scope.values)
    return {partner_id: SoldTotals(*map(int, sums)) for partner_id, *sums in rows}


def read_partners(connection: Connection, scope: ReportScope, *, limit: int = maxsize) -> list[PartnerResult]:
    """Return the totals of the program's partners in a window: most revenue first, then most clicks."""
    rows = connection.execute(_BROUGHT, scope.values | {"most": limit})
    return [PartnerResult(partner_id, name, code, Totals(*map(int, sums))) for partner_id, name, code, *sums in rows]
