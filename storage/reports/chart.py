"""The results of a program, or of one partner, as a chart shows them, and the program's overview around them."""

from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial
from typing import NamedTuple

from sqlalchemy import Connection

from storage.lists import rejected_calls
from storage.lists.partners import Partner
from storage.lists.rejected_calls import Cause
from storage.management import commission_decisions
from storage.management.commission_decisions import PendingWork
from storage.reports import breakdown, checklist, comparison, performance
from storage.reports.checklist import ChecklistStep
from storage.reports.comparison import PartnerResult
from storage.reports.performance import Performance
from storage.rules.errors import ValidationError
from storage.rules.periods.period import DateRangeQuery
from storage.rules.reports.breakdown import NOTHING, Dimension, DimensionFilter, Operator
from storage.rules.reports.metrics import RefundTotals, Totals
from storage.tables.columns import DAY_MILLIS, HOUR_MILLIS

TOP_PARTNERS = 10
MOST_EVENTS = 100_000  # of each kind, of which the hours of a day are read


class Step(NamedTuple):
    """Hours or days: the start of the first and the last, their totals, and refunds made then, of old sales too."""

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
    connection: Connection, program_id: int, wanted: DateRangeQuery, *, at: datetime, base_url: str
) -> Overview:
    """Return the overview for a range, compared with another. Raises InvalidPeriod, InvalidRange, NotFound."""
    results = read_results(connection, program_id, wanted, at=at)
    return Overview(
        results,
        comparison.read_partners(connection, program_id, results.report.window, limit=TOP_PARTNERS),
        checklist.list_steps(connection, program_id, base_url=base_url),
        rejected_calls.by_cause(connection, program_id),
        commission_decisions.get_pending_work(connection, program_id, at=at),
    )


def read_results(
    connection: Connection, program_id: int, query: DateRangeQuery, *, at: datetime, partner: Partner | None = None
) -> Results:
    """Return the results of a range: the hours of a single day, else days. Raises the errors of `read_performance`."""
    partner_id = partner.id if partner else None
    report = performance.read_performance(connection, program_id, query, at=at, partner_id=partner_id)
    windows, millis = (report.window, report.previous_window), DAY_MILLIS
    totals = [[day.totals for day in each] for each in (report.days, report.previous_days)]
    if report.window.length == 1:
        filters = [DimensionFilter(Dimension.PARTNER, Operator.IS, partner.code)] if partner else []
        read = partial(breakdown.read_each, connection, program_id, at=at, most=MOST_EVENTS)
        with suppress(ValidationError):  # too many events: the day is shown as one step
            hours = [read(each, [(Dimension.HOUR,)], filters)[0].groups for each in windows]
            totals = [[each.get((hour,), NOTHING).reported for hour in range(24)] for each in hours]
            millis = HOUR_MILLIS
    steps = []
    for window, each in zip(windows, totals, strict=True):
        back = performance.read_refunds_by_time(connection, program_id, window, millis, partner_id=partner_id)
        starts = (window.starts_at + n * timedelta(milliseconds=millis) for n in range(len(each)))
        rows = zip(starts, each, strict=True)
        steps.append([Step(at, at, sums, back.get(at, RefundTotals()).refunded_cents) for at, sums in rows])
    return Results(report, millis == HOUR_MILLIS, *steps)
