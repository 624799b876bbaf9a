"""get_performance: what a program did in a period, in totals and trends; and the ranges that reports accept."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from mcp_server.arguments import WRITTEN, RowId, Timestamp
from mcp_server.tools.tool import ToolRequest, tool
from storage.reports import comparison
from storage.reports.comparison import PerformanceReport
from storage.rules.errors import FieldError, InsufficientScope, InvalidRange, ProgramNotAllowed, ValidationError
from storage.rules.periods import period as periods
from storage.rules.periods.period import DateRangeQuery
from storage.rules.reports.metrics import Part
from storage.rules.scope import Scope


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


CALENDAR = {  # how many months each has, and how many of its length ago it is
    ReportPeriod.THIS_MONTH: (1, 0),
    ReportPeriod.LAST_MONTH: (1, 1),
    ReportPeriod.THIS_QUARTER: (3, 0),
    ReportPeriod.LAST_QUARTER: (3, 1),
}


@tool("Performance", Scope.PERFORMANCE_READ, "top_partners", "other_partners", "programs")
def get_performance(
    request: ToolRequest,
    *,
    program_id: int,
    period: ReportPeriod = ReportPeriod.SEVEN_DAYS,
    date_from: Timestamp | None = None,
    date_to: Timestamp | None = None,
    breakdown: Part = Part.NONE,
    top_partners: Annotated[int, Field(ge=0, le=20)] = 0,
    compare_with: Annotated[list[RowId], Field(min_length=1, max_length=20)] | None = None,
) -> PerformanceReport:
    """Clicks, leads, conversions (first purchases), sales, revenue, commission (by leads, by sales), refunds and ratios
    of a period (or date_from to date_to, UTC days) and of the one before; compare_with adds programs by id. breakdown
    adds rows; top_partners (partners:read) the best by revenue.
    """
    if top_partners and Scope.PARTNERS_READ not in request.key.scopes:
        raise InsufficientScope(hint="Leave top_partners out.", required_scope=Scope.PARTNERS_READ)
    reachable = request.key.program_ids
    if compare_with and reachable is not None and not set(compare_with) <= set(reachable):
        raise ProgramNotAllowed
    query = report_range(request, period, date_from, date_to)
    request.applied_query["breakdown"], compared = comparison.compare(
        request.connection,
        program_id,
        query,
        at=request.at,
        part=breakdown,
        top_partners=top_partners,
        others=compare_with or (),
        workspace_id=request.key.workspace_id,
    )
    return compared


def report_range(
    request: ToolRequest, period: ReportPeriod, date_from: str | None, date_to: str | None
) -> DateRangeQuery:
    """Return the range of the dates if they are sent, else of the period.

    Raises ValidationError for one date alone; InvalidRange.
    """
    if (date_from is None) != (date_to is None):
        raise ValidationError(fields=[FieldError("date_from", "Send date_from and date_to together, or neither")])
    if date_from is None or date_to is None:
        return named_range(request, period)
    request.applied_query.pop("period", None)
    try:
        periods.custom(date_from, date_to)
    except InvalidRange:
        message = "date_from and date_to must be ISO 8601, in order, and at most 1,830 days apart."
        raise InvalidRange(message, hint=WRITTEN) from None
    return DateRangeQuery(None, date_from, date_to)


def named_range(request: ToolRequest, period: ReportPeriod) -> DateRangeQuery:
    """Return the range of a period; one of the calendar is compared with the one before it."""
    if period not in CALENDAR:
        return DateRangeQuery(period)
    months, ago = CALENDAR[period]
    window, previous = periods.calendar(months, request.at, ago=ago)
    return window.query(previous)
