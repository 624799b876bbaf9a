"""What reports share: their periods, totals and ratios, of one program or of several."""

from collections.abc import Sequence
from datetime import date
from enum import StrEnum

from mcp_server.arguments import WRITTEN
from mcp_server.results import Result
from mcp_server.sanitize import Untrusted
from mcp_server.tools.tool import ToolRequest
from storage.engine.pagination import MOST, Paging
from storage.management import program_settings
from storage.management.program_settings import Program
from storage.reports import performance, refunds
from storage.reports.performance import Performance
from storage.rules.errors import FieldError, InvalidRange, ValidationError
from storage.rules.periods.period import CalendarPeriod, DateRangeQuery, Window, calendar
from storage.rules.reports import metrics, trend


class ReportPeriod(StrEnum):
    """The named periods: days that end today, and whole calendar months and quarters."""

    SEVEN_DAYS = "7d"
    THIRTY_DAYS = "30d"
    NINETY_DAYS = "90d"
    ALL = "all"
    THIS_MONTH = "this_month"
    LAST_MONTH = "last_month"
    THIS_QUARTER = "this_quarter"
    LAST_QUARTER = "last_quarter"


CALENDAR = frozenset(map(str, CalendarPeriod))


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
    """The totals of a window, its ratios, and the refunds that were made in it."""

    conversion_rate_percent: float
    average_order_cents: int
    earnings_per_click_cents: float
    refunds: int
    refunded_cents: int
    reversed_cents: int
    refund_rate_percent: float


class MetricTrend(Result):
    """The change against the previous window; `percent` is absent if the previous value is 0."""

    direction: str
    percent: float | None = None
    previous: int


class RefundedMonthRow(Result):
    """A month's refunds and the commission that they took back."""

    month: str
    refunds: int
    refunded_cents: int
    reversed_cents: int


class ComparedProgramRow(Result):
    """A further program in the same windows; money is in cents of its own currency."""

    id: int
    name: Untrusted
    currency: str
    totals: ReportTotals
    previous_totals: ReportTotals


def read_report(
    request: ToolRequest, program_id: int, period: ReportPeriod, date_from: str | None, date_to: str | None
) -> Performance:
    """Return the report of the dates if they are sent, else of the period. Raises InvalidRange."""
    if (date_from is None) != (date_to is None):
        raise ValidationError(fields=[FieldError("date_from", "Send date_from and date_to together, or neither")])
    if date_from is not None:
        request.applied_query.pop("period", None)
    previous = None
    if period in CALENDAR and date_from is None:
        window, previous = calendar(CalendarPeriod(period), request.at)
        query = DateRangeQuery(None, str(window.first), str(window.last))
    else:
        query = DateRangeQuery(None if period in CALENDAR else period, date_from, date_to)
    try:
        return performance.get_report(request.connection, program_id, query, at=request.at, before=previous)
    except InvalidRange:
        raise InvalidRange(
            "date_from and date_to must be ISO 8601, in order, and at most 1,830 days apart.",
            hint=WRITTEN,
        ) from None


def report_totals(request: ToolRequest, program_id: int, window: Window, sums: performance.Totals) -> ReportTotals:
    """Return the totals of a window with its ratios and refunds."""
    back = refunds.total(request.connection, program_id, window.span)
    return ReportTotals(
        **sums._asdict(),
        **back._asdict(),
        conversion_rate_percent=metrics.conversion_rate(sums.conversions, sums.clicks),
        average_order_cents=metrics.average_order_cents(sums.revenue_cents, sums.conversions),
        earnings_per_click_cents=metrics.earnings_per_click_cents(sums.commission_cents, sums.clicks),
        refund_rate_percent=metrics.refund_rate(back.refunded_cents, sums.revenue_cents),
    )


def trend_of(name: str, now: performance.Totals, before: performance.Totals) -> MetricTrend:
    """Return the change of a metric."""
    current, previous = getattr(now, name), getattr(before, name)
    percent, direction = trend.between(previous, current)
    return MetricTrend(direction=direction, percent=percent, previous=previous)


def reachable(request: ToolRequest, ids: Sequence[int]) -> list[Program]:
    """Return the programs with these ids that the key reaches."""
    allowed = [each for each in ids if request.key.program_ids is None or each in request.key.program_ids]
    own = [request.key.workspace_id]
    paging = Paging(MOST)
    return program_settings.list_programs(
        request.connection, workspace_ids=own, program_ids=allowed, paging=paging
    ).data


def compared_row(request: ToolRequest, program: Program, window: Window, previous: Window) -> ComparedProgramRow:
    """Return a program's totals in two windows."""
    sums = [performance.get_totals(request.connection, program.id, each) for each in (window, previous)]
    return ComparedProgramRow(
        id=program.id,
        name=program.settings.name,
        currency=program.settings.currency,
        totals=report_totals(request, program.id, window, sums[0]),
        previous_totals=report_totals(request, program.id, previous, sums[1]),
    )
