"""The results of a program, or of one partner, as a chart shows them: the hours of a single day, else days."""

from datetime import UTC, date, datetime, time, timedelta
from typing import NamedTuple

from sqlalchemy import Connection

from storage.management.partners import Partner
from storage.reports import breakdown, performance, refunds
from storage.reports.performance import Performance
from storage.reports.refunds import DAY_MILLIS, HOUR_MILLIS
from storage.rules.errors import ValidationError
from storage.rules.periods.period import DateRangeQuery, Window
from storage.rules.reports.breakdown import BreakdownQuery, Dimension, GroupTotals, Metric
from storage.rules.reports.metrics import Day, Totals

MOST_EVENTS = 100_000  # of each kind, of which the hours of a day are read


class Step(NamedTuple):
    """An hour or a day: its start, its totals, and what was refunded in it, also of earlier sales."""

    at: datetime
    totals: Totals
    refunded_cents: int


class Results(NamedTuple):
    """A report with its steps, and those of the window before; both are hours or both are days."""

    report: Performance
    is_hourly: bool
    steps: list[Step]
    previous_steps: list[Step]


def read_results(
    connection: Connection,
    program_id: int,
    query: DateRangeQuery,
    *,
    at: datetime,
    before: Window | None = None,
    partner: Partner | None = None,
) -> Results:
    """Return the results of a range. Raises the errors of `performance.read_performance`."""
    partner_id = partner.id if partner else None
    report = performance.read_performance(connection, program_id, query, at=at, before=before, partner_id=partner_id)
    windows = (report.window, report.previous_window)
    if report.window.length == 1:
        try:
            hours = [_hours(connection, program_id, window, partner, at=at) for window in windows]
            return Results(report, True, *hours)
        except ValidationError:  # too many events: the day is shown as one step
            pass
    days = (report.days, report.previous_days)
    steps = [_days(connection, program_id, *each, partner_id) for each in zip(windows, days, strict=True)]
    return Results(report, False, *steps)


def _days(
    connection: Connection, program_id: int, window: Window, days: list[Day], partner_id: int | None
) -> list[Step]:
    refunded = _refunded(connection, program_id, window, DAY_MILLIS, partner_id)
    return [Step(start, day.totals, refunded.get(start, 0)) for day in days for start in (_start(day.date),)]


def _hours(
    connection: Connection, program_id: int, window: Window, partner: Partner | None, *, at: datetime
) -> list[Step]:
    """Return the hours of a window of one day. Raises ValidationError for too many events."""
    day = DateRangeQuery(None, str(window.first), str(window.last))
    filters = {Dimension.PARTNER: partner.code} if partner else {}
    query = BreakdownQuery((Dimension.HOUR,), filters, (Metric.CLICKS,), Metric.CLICKS, limit=24)
    read = breakdown.read_breakdown(connection, program_id, day, query, at=at, most_events=MOST_EVENTS)
    totals = {group.values[0]: _totals(group.totals) for group in read.groups}
    refunded = _refunded(connection, program_id, window, HOUR_MILLIS, partner.id if partner else None)
    starts = [_start(window.first) + timedelta(hours=hour) for hour in range(24)]
    return [Step(start, totals.get(f"{start:%H}", Totals()), refunded.get(start, 0)) for start in starts]


def _refunded(
    connection: Connection, program_id: int, window: Window, millis: int, partner_id: int | None
) -> dict[datetime, int]:
    back = refunds.read_refunds_by_time(connection, program_id, window.span, millis, partner_id=partner_id)
    return {at: totals.refunded_cents for at, totals in back.items()}


def _totals(group: GroupTotals) -> Totals:
    return Totals(**{name: count for name, count in group._asdict().items() if name in Totals._fields})


def _start(day: date) -> datetime:
    return datetime.combine(day, time(0, tzinfo=UTC))
