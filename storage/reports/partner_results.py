"""What each partner brought in a window: their totals, what was refunded, and what became of the sales made in it."""

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import Connection, case, func, select, true

from storage.lists.partners import FIGURES
from storage.reports.performance import Performance, inside
from storage.rules.periods.period import Window
from storage.rules.reports import metrics
from storage.rules.reports.metrics import Figures, RefundTotals, Totals, added
from storage.rules.untrusted import UntrustedValues
from storage.tables import partner_rollups, partners, refunds, sales


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


NOT_SOLD = SoldTotals()


def read_best(
    connection: Connection, report: Performance, back: dict[int, RefundTotals], limit: int
) -> tuple[list[UntrustedValues], UntrustedValues | None]:
    """Return the results of the partners with the most revenue, and those of all others, None if there are none.

    `back` are the refunds that were made in the window, by partner; `sold` is what became of the sales made in it.
    """
    program_id, window = report.program_id, report.window
    brought = read_partners(connection, program_id, window)
    before = {each.partner_id: each.totals for each in read_partners(connection, program_id, report.previous_window)}
    totals, sold = {each.partner_id: each.totals for each in brought}, read_sold(connection, program_id, window)

    def results(ids: Sequence[int]) -> UntrustedValues:
        sums, previous = (added(Totals(), (each[one] for one in ids if one in each)) for each in (totals, before))
        refunded = added(RefundTotals(), (back[each] for each in ids if each in back))
        return {
            **{name: getattr(sums, name) for name in FIGURES},
            "previous_revenue_cents": previous.revenue_cents,
            "previous_commission_cents": previous.commission_cents,
            **refunded._asdict(),
            "refund_rate_percent": metrics.refund_rate(refunded.refunded_cents, sums.revenue_cents),
            "sold": added(NOT_SOLD, (sold[each] for each in ids if each in sold)).figures,
        }

    rest = list(dict.fromkeys([*totals, *before, *back]))[limit:] if len(brought) > limit else []
    best = [{"id": each.partner_id, "name": each.name, **results([each.partner_id])} for each in brought[:limit]]
    return best, results(rest) if rest else None


def read_sold(
    connection: Connection, program_id: int, window: Window, *, partner_id: int | None = None
) -> dict[int, SoldTotals]:
    """Return the sales of each partner, or of one, that were made in a window."""
    row, is_whole = sales.c, sales.c.refunded_cents == sales.c.amount_cents
    theirs = (refunds.c.program_id == row.program_id, refunds.c.sale_id == row.id)
    back = select(func.sum(refunds.c.program_cents)).where(*theirs).correlate(sales).scalar_subquery()
    sums = (
        func.count(),
        func.sum(row.program_cents),
        func.count().filter(row.refunded_cents > 0),
        func.sum(case((row.refunded_cents > 0, back), else_=0)),
        func.count().filter(is_whole),
        func.sum(case((is_whole, row.program_cents), else_=0)),
    )
    mine = (
        *inside(sales, row.occurred_at, program_id, window),
        true() if partner_id is None else row.partner_id == partner_id,
    )
    grouped = select(row.partner_id, *sums).where(*mine).group_by(row.partner_id)
    return {each[0]: SoldTotals(*map(int, each[1:])) for each in connection.execute(grouped)}


def read_partners(
    connection: Connection, program_id: int, window: Window, *, limit: int | None = None
) -> list[PartnerResult]:
    """Return the totals of the program's partners in a window: most revenue first, then most clicks."""
    row = partner_rollups.c
    brought = (
        select(row.partner_id, partners.c.name, partners.c.code, *(func.sum(row[name]) for name in Totals._fields))
        .join(partners, (partners.c.program_id == row.program_id) & (partners.c.id == row.partner_id))
        .where(row.program_id == program_id, row.day.between(window.first, window.last))
        .group_by(row.partner_id, partners.c.name, partners.c.code)
        .order_by(func.sum(row.revenue_cents).desc(), func.sum(row.clicks).desc(), row.partner_id)
        .limit(limit)
    )
    return [
        PartnerResult(partner_id, name, code, Totals(*map(int, sums)))
        for partner_id, name, code, *sums in connection.execute(brought)
    ]
