"""The range of a report: a named period, a calendar month or quarter, or two dates."""

from enum import StrEnum

from mcp_server.arguments import WRITTEN
from mcp_server.tools.tool import ToolRequest
from storage.rules.errors import FieldError, InvalidRange, ValidationError
from storage.rules.periods import period as periods
from storage.rules.periods.period import CalendarPeriod, DateRangeQuery, Window


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


def report_range(
    request: ToolRequest, period: ReportPeriod, date_from: str | None, date_to: str | None
) -> tuple[DateRangeQuery, Window | None]:
    """Return the range of the dates if they are sent, else of the period, and what a calendar period is compared with.

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
    return DateRangeQuery(None, date_from, date_to), None


def named_range(request: ToolRequest, period: ReportPeriod) -> tuple[DateRangeQuery, Window | None]:
    """Return the range of a period, and what a calendar period is compared with."""
    if period not in [*map(str, CalendarPeriod)]:
        return DateRangeQuery(period), None
    window, previous = periods.calendar(CalendarPeriod(period), request.at)
    return DateRangeQuery(None, str(window.first), str(window.last)), previous
