"""The results of a program, or of one partner, as a chart shows them, and the program's overview around them."""

from datetime import UTC, date, datetime, time, timedelta
from typing import NamedTuple

from sqlalchemy import Connection

from storage.lists import rejected_calls
from storage.lists.partners import Partner
from storage.lists.rejected_calls import Cause
from storage.management import pending_work
from storage.management.pending_work import PendingWork
from storage.reports import breakdown, checklist, comparison, performance
from storage.reports.checklist import ChecklistStep
from storage.reports.comparison import PartnerResult
from storage.reports.performance import Performance
from storage.rules.errors import ValidationError
from storage.rules.periods.period import DateRangeQuery, Window
from storage.rules.reports.breakdown import REPORTED, BreakdownQuery, Dimension, DimensionFilter, Metric, Operator
from storage.rules.reports.metrics import RefundTotals, Totals
from storage.tables.columns import DAY_MILLIS, HOUR_MILLIS

TOP_PARTNERS = 10
MOST_EVENTS = 100_000  # of each kind, of which the hours of a day are read


class Step(NamedTuple):
    """One hour or day, or several: when the first and the last one start, their totals, and what was refunded in them.

    `refunded_cents` includes the refunds of earlier sales.
    """

    first: datetime
    last: datetime
    totals: Totals
    refunded_cents: int


class Results(NamedTuple):
    """A report with its steps, and those of the window before; both are hours or both are days."""

    report: Performance
    is_hourly: bool
    steps: list[Step]
    previous_steps: list[Step]


class Overview(NamedTuple):
    """A program's overview page; `partners` are those with the most revenue in the results' window."""

    results: Results
    partners: list[PartnerResult]
    steps: list[ChecklistStep]
    causes: list[Cause]
    pending: PendingWork


def read_overview(
    connection: Connection,
    program_id: int,
    wanted: DateRangeQuery,
    *,
    at: datetime,
    base_url: str,
) -> Overview:
    """Return the overview for a range, compared with another. Raises InvalidPeriod, InvalidRange, NotFound."""
    results = read_results(connection, program_id, wanted, at=at)
    return Overview(
        results,
        comparison.read_partners(connection, program_id, results.report.window, limit=TOP_PARTNERS),
        checklist.list_all_steps(connection, program_id, base_url=base_url),
        rejected_calls.by_cause(connection, program_id),
        pending_work.get_pending_work(connection, program_id, at=at),
    )


def read_results(
    connection: Connection,
    program_id: int,
    query: DateRangeQuery,
    *,
    at: datetime,
    partner: Partner | None = None,
) -> Results:
    """Return the results of a range: the hours of a single day, else days. Raises the errors of `read_performance`."""
    partner_id = partner.id if partner else None
    report = performance.read_performance(connection, program_id, query, at=at, partner_id=partner_id)
    windows = (report.window, report.previous_window)

    def steps(window: Window, totals: dict[datetime, Totals], millis: int) -> list[Step]:
        back = performance.read_refunds_by_time(connection, program_id, window, millis, partner_id=partner_id)
        return [Step(at, at, sums, back.get(at, RefundTotals()).refunded_cents) for at, sums in totals.items()]

    if report.window.length == 1:
        try:
            hours = [_hours(connection, program_id, window, partner, at=at) for window in windows]
            return Results(report, True, *(steps(*each, HOUR_MILLIS) for each in zip(windows, hours, strict=True)))
        except ValidationError:  # too many events: the day is shown as one step
            pass
    days = ({_start(day.date): day.totals for day in each} for each in (report.days, report.previous_days))
    return Results(report, False, *(steps(*each, DAY_MILLIS) for each in zip(windows, days, strict=True)))


def _hours(
    connection: Connection, program_id: int, window: Window, partner: Partner | None, *, at: datetime
) -> dict[datetime, Totals]:
    """Return the totals of the hours of a window of one day. Raises ValidationError for too many events."""
    filters = [DimensionFilter(Dimension.PARTNER, Operator.IS, partner.code)] if partner else []
    query = BreakdownQuery((Dimension.HOUR,), filters, (Metric.CLICKS,), Metric.CLICKS, limit=24)
    read = breakdown.read_groups(connection, program_id, window, query, at=at, most_events=MOST_EVENTS)
    groups = {group.values[0]: group.totals[: len(REPORTED)] for group in read.groups}
    starts = [_start(window.first) + timedelta(hours=hour) for hour in range(24)]
    return {start: Totals(*groups.get(f"{start:%H}", ())) for start in starts}


def _start(day: date) -> datetime:
    return datetime.combine(day, time(0, tzinfo=UTC))
