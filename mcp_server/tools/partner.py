"""get_partner: one partner's results, balance and customers."""

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from itertools import groupby

from mcp_server.arguments import Identifier, RowId, Timestamp
from mcp_server.results import Result
from mcp_server.tools.people import BalanceRow, PartnerRow
from mcp_server.tools.report import (
    MetricTotals,
    MetricTrend,
    RefundedMonthRow,
    ReportPeriod,
    ReportWindow,
    read_report,
    trend_of,
)
from mcp_server.tools.tool import ToolRequest, tool
from storage.management import balances, partners
from storage.reports import partner_results, performance
from storage.reports.performance import Totals
from storage.reports.refunds import RefundedMonth
from storage.rules.errors import FieldError, NotFound, ValidationError
from storage.rules.reports import metrics
from storage.rules.scope import Scope

MOST_WEEKS = 27


class HoldRow(Result):
    """What becomes ready to approve on a day."""

    until: date
    cents: int


class PartnerTotals(MetricTotals):
    """A partner's totals and ratios in the period."""

    conversion_rate_percent: float
    earnings_per_click_cents: float
    refunds: int
    refunded_cents: int
    refund_rate_percent: float


class WeekRow(MetricTotals):
    """A partner's totals in a week that begins on `first`."""

    first: date


class PartnerDetails(Result):
    """A partner's page."""

    partner: PartnerRow
    window: ReportWindow
    currency: str
    totals: PartnerTotals
    trends: dict[str, MetricTrend]
    weeks: list[WeekRow]
    refunds_by_month: list[RefundedMonthRow]
    balance: BalanceRow
    holds: list[HoldRow]
    customers: dict[str, int]
    open_flags: int
    last_sale_at: datetime | None = None


@tool("One partner", Scope.PARTNERS_READ)
def get_partner(
    request: ToolRequest,
    *,
    program_id: int,
    partner_id: RowId | None = None,
    partner: Identifier | None = None,
    period: ReportPeriod = ReportPeriod.THIRTY_DAYS,
    date_from: Timestamp | None = None,
    date_to: Timestamp | None = None,
) -> PartnerDetails:
    """Everything about one partner: a period by week, trends, refunds by month, customers, open flags, and the balance:
    pending, on hold (holds: until when), approved, paid, owed back, to pay. Give partner_id, or partner: code or
    name.
    """
    found = _find(request, program_id, partner_id, partner)
    report = read_report(request, program_id, period, date_from, date_to)
    results = partner_results.get_results(request.connection, program_id, found.id, report.window)
    totals, before = (performance.added([Totals(), *days.values()]) for days in (results.days, results.previous))
    [balance] = balances.of_partners(request.connection, program_id, [found.id], at=request.at).values()
    holds = balances.next_holds(request.connection, program_id, found.id, at=request.at)
    return PartnerDetails(
        partner=PartnerRow.model_validate(found),
        window=ReportWindow.model_validate(report.window),
        currency=report.currency,
        totals=_totals(totals, results.refunds),
        trends={name: trend_of(name, totals, before) for name in MetricTotals.model_fields if name != "partners"},
        weeks=_weeks(results.days)[-MOST_WEEKS:],
        refunds_by_month=[RefundedMonthRow.model_validate(each) for each in results.refunds],
        balance=BalanceRow.model_validate(balance),
        holds=[HoldRow.model_validate(each) for each in holds],
        customers=results.customers,
        open_flags=found.open_flags,
        last_sale_at=results.last_sale_at,
    )


def _find(request: ToolRequest, program_id: int, partner_id: int | None, name: str | None) -> partners.Partner:
    """Return the one partner. Raises NotFound; ValidationError unless one argument names one partner."""
    if (partner_id is None) == (name is None):
        one = "Send partner_id or partner, not both"
        raise ValidationError(fields=[FieldError(field, one) for field in ("partner_id", "partner")])
    if partner_id is not None:
        return partners.get_partner(request.connection, program_id, partner_id)
    found = partners.find(request.connection, program_id, name or "")
    if not found:
        raise NotFound("The program has no such partner.", hint="list_partners has the names and codes.")
    if len(found) > 1:
        ids = ", ".join(str(each.id) for each in found)
        raise ValidationError(fields=[FieldError("partner", f"Several partners have this name: send partner_id {ids}")])
    return found[0]


def _totals(totals: Totals, refunds: Sequence[RefundedMonth]) -> PartnerTotals:
    refunded_cents = sum(month.refunded_cents for month in refunds)
    return PartnerTotals(
        **totals._asdict(),
        conversion_rate_percent=metrics.conversion_rate(totals.conversions, totals.clicks),
        earnings_per_click_cents=metrics.earnings_per_click_cents(totals.commission_cents, totals.clicks),
        refunds=sum(month.refunds for month in refunds),
        refunded_cents=refunded_cents,
        refund_rate_percent=metrics.refund_rate(refunded_cents, totals.revenue_cents),
    )


def _weeks(days: dict[date, Totals]) -> list[WeekRow]:
    """Return the totals of each week with some; weeks begin on Mondays."""
    parts = groupby(sorted(days.items()), key=lambda day: day[0] - timedelta(days=day[0].weekday()))
    return [WeekRow(first=first, **performance.added(each for _, each in part)._asdict()) for first, part in parts]
