"""get_performance: what a program did in a period, in totals and trends; rows on request."""

from collections.abc import Iterator
from datetime import date, timedelta
from enum import StrEnum
from itertools import groupby
from typing import Annotated, Any

from pydantic import Field, StringConstraints

from mcp_server.arguments import OfProgram
from mcp_server.results import Model, Result
from mcp_server.sanitize import Untrusted
from mcp_server.tools.tool import Tool, ToolRequest
from storage.reading import performance
from storage.reading.performance import Day, Performance
from storage.rules import metrics, trend
from storage.rules.errors import FieldError, InsufficientScope, InvalidRange, ValidationError
from storage.rules.period import DateRangeQuery, Period
from storage.rules.scope import Scope

MOST_ROWS = 53  # a year of weeks
Moment = Annotated[str, StringConstraints(min_length=10, max_length=40)]


class Breakdown(StrEnum):
    """How finely the rows divide the period."""

    NONE = "none"
    DAY = "day"
    WEEK = "week"
    MONTH = "month"


class PerformanceQuery(OfProgram):
    """The period, and what is wanted beside its totals."""

    period: Period = Field(default=Period.SEVEN_DAYS, strict=False)
    date_from: Moment | None = None
    date_to: Moment | None = None
    breakdown: Breakdown = Field(default=Breakdown.NONE, strict=False)
    top_partners: int = Field(default=0, ge=0, le=20)

    def applied(self) -> dict[str, Any]:
        """Return the query as it was applied: dates outrank the period."""
        sent = super().applied()
        return sent if self.date_from is None else {name: sent[name] for name in sent if name != "period"}


class Window(Model):
    """Whole UTC days, both included."""

    first: date
    last: date


class Totals(Model):
    """Counts, and money in cents net of refunds."""

    clicks: int
    leads: int
    conversions: int
    sales: int
    revenue_cents: int
    commission_cents: int
    partners: int


class Sums(Totals):
    """The totals of the whole period, and its ratios."""

    conversion_rate_percent: float
    average_order_cents: int


class Trend(Model):
    """The change against the previous window; `percent` is absent from nothing to something."""

    direction: str
    percent: float | None = None
    previous: int


class Row(Totals):
    """The totals of a part of the period."""

    first: date


class PartnerRow(Model):
    """What one partner brought."""

    id: int
    name: Untrusted
    clicks: int
    leads: int
    conversions: int
    revenue_cents: int
    commission_cents: int


class Report(Result):
    """Totals and trends; rows and partners where they were asked for."""

    window: Window
    previous_window: Window
    currency: str
    totals: Sums
    trends: dict[str, Trend]
    rows: list[Row]
    top_partners: list[PartnerRow]


def _report(call: ToolRequest, arguments: PerformanceQuery) -> Report:
    if arguments.top_partners and Scope.PARTNERS_READ not in call.key.scopes:
        raise InsufficientScope(hint="Leave top_partners out.", required_scope=Scope.PARTNERS_READ)
    found = _read(call, arguments)
    parted = _parted(found, arguments.breakdown)
    best = performance.by_partner(call.connection, arguments.program_id, found.window, limit=arguments.top_partners)
    return Report(
        as_of=call.at,
        applied_query={**arguments.applied(), "breakdown": parted},
        window=Window.model_validate(found.window),
        previous_window=Window.model_validate(found.previous_window),
        currency=found.currency,
        totals=_sums(found.current),
        trends={name: _trend(found, name) for name in Totals.model_fields},
        rows=list(_rows(found.days, parted)),
        top_partners=[PartnerRow(id=each.partner_id, name=each.name, **each.totals._asdict()) for each in best],
    )


def _read(call: ToolRequest, arguments: PerformanceQuery) -> Performance:
    if (arguments.date_from is None) != (arguments.date_to is None):
        raise ValidationError(fields=[FieldError("date_from", "Send date_from and date_to together, or neither")])
    wanted = DateRangeQuery(arguments.period, arguments.date_from, arguments.date_to)
    try:
        return performance.get_report(call.connection, arguments.program_id, wanted, at=call.at)
    except InvalidRange:
        raise InvalidRange(
            "date_from and date_to must be ISO 8601, in order, and at most 1,830 days apart.",
            hint="Write 2026-01-31 or 2026-01-31T00:00:00Z.",
        ) from None


def _sums(total: performance.Totals) -> Sums:
    return Sums(
        **total._asdict(),
        conversion_rate_percent=metrics.conversion_rate(total.conversions, total.clicks),
        average_order_cents=metrics.average_order_cents(total.revenue_cents, total.conversions),
    )


def _trend(found: Performance, name: str) -> Trend:
    previous, current = (getattr(totals, name) for totals in (found.previous, found.current))
    percent, direction = trend.between(previous, current)
    return Trend(direction=direction, percent=percent, previous=previous)


def _parted(found: Performance, asked: Breakdown) -> Breakdown:
    """Return the finest division, from the one asked for, whose rows fit an answer."""
    finer = {Breakdown.DAY: found.window.length, Breakdown.WEEK: found.window.length // 7 + 2}
    while finer.get(asked, 0) > MOST_ROWS:
        asked = Breakdown.WEEK if asked == Breakdown.DAY else Breakdown.MONTH
    return asked


def _rows(days: list[Day], parted: Breakdown) -> Iterator[Row]:
    """Yield the days put together; weeks begin on Mondays, the first and last part may be shorter."""
    starts = {
        Breakdown.DAY: lambda day: day,
        Breakdown.WEEK: lambda day: day - timedelta(days=day.weekday()),
        Breakdown.MONTH: lambda day: day.replace(day=1),
    }
    if parted != Breakdown.NONE:
        for _, part in groupby(days, key=lambda day: starts[parted](day.date)):
            inside = list(part)
            totals = performance.added(day.totals for day in inside)
            yield Row(first=inside[0].date, **totals._asdict())


GET_PERFORMANCE = Tool(
    name="get_performance",
    title="Get a program's performance",
    scope=Scope.PERFORMANCE_READ,
    description=(
        "Clicks, leads, conversions (first purchases), sales, revenue and commission of a period, with trends against "
        "the window of equal length before. period (default 7d), or date_from with date_to (ISO 8601 UTC days, at most "
        "1830). breakdown adds rows (too fine a one is coarsened); top_partners adds the best by revenue and needs "
        "partners:read. Money is net of refunds, in cents of currency."
    ),
    arguments=PerformanceQuery,
    result=Report,
    answer=_report,
)
