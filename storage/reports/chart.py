"""The results of a program, or of one partner: for charts, the program's overview, the partner's page and report."""

from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial
from typing import Any, NamedTuple

from sqlalchemy import Connection

from storage.engine.statements import read_statement
from storage.lists import balances, rejected_calls
from storage.lists.commissions import COMMISSIONS
from storage.lists.coupons import COUPONS
from storage.lists.customers import CUSTOMERS
from storage.lists.declaration import ListQuery, ListScope
from storage.lists.find import find, get
from storage.lists.flags import FLAGS
from storage.lists.partners import PARTNERS
from storage.management import commission_decisions
from storage.reports import breakdown, checklist, comparison, performance
from storage.rules.errors import ValidationError
from storage.rules.fraud.flag import FlagState
from storage.rules.periods.period import DateRangeQuery
from storage.rules.reports import metrics
from storage.rules.reports.breakdown import NOTHING, BreakdownQuery, Dimension, Metric
from storage.tables.columns import DAY_MILLIS, HOUR_MILLIS, Timestamp

TOP_PARTNERS = 10
MOST_EVENTS = 100_000  # of each kind, of which the hours of a day are read
MOST_NEWEST, MOST_COUPONS = 5, 50
MOST_LINKS = 10
MOST_WEEKS = 27
_OF_PROGRAMS = {"average_order_cents", "reversed_cents"}  # figures that a partner's report leaves out
_CUSTOMERS, _LAST_SALE = read_statement("customers_by_status"), read_statement("last_sale", sold_at=Timestamp)
_LINK = (Dimension.LANDING_PATH, Dimension.CAMPAIGN)
_BY_LINK = BreakdownQuery(_LINK, (), (), Metric.CLICKS, MOST_LINKS)


class Step(NamedTuple):
    """Hours or days: the start of the first and the last, their totals, and refunds made then, of old sales too."""

    first: datetime
    last: datetime
    totals: metrics.Totals
    refunded_cents: int


class Results(NamedTuple):
    """A report with its steps, and those of the window before; both are hours or both are days."""

    report: performance.Performance
    is_hourly: bool
    steps: list[Step]
    previous_steps: list[Step]


class Overview(NamedTuple):
    """A program's overview page; `partners` are those with the most revenue in the results' window."""

    results: Results
    partners: list[comparison.PartnerResult]
    steps: list[checklist.ChecklistStep]
    causes: list[rejected_calls.Cause]
    pending: commission_decisions.PendingWork


def read_overview(
    connection: Connection, program_id: int, wanted: DateRangeQuery, *, at: datetime, base_url: str
) -> Overview:
    """Return the overview for a range, compared with another. Raises InvalidPeriod, InvalidRange, NotFound."""
    results = read_results(connection, program_id, wanted, at=at)
    return Overview(
        results,
        comparison.read_partners(connection, results.report.scope, limit=TOP_PARTNERS),
        checklist.list_steps(connection, program_id, base_url=base_url),
        rejected_calls.by_cause(connection, program_id),
        commission_decisions.get_pending_work(connection, program_id, at=at),
    )


def read_results(
    connection: Connection, program_id: int, query: DateRangeQuery, *, at: datetime, partner_id: int | None = None
) -> Results:
    """Return the results of a range: the hours of a single day, else days. Raises the errors of `read_performance`."""
    report = performance.read_performance(connection, program_id, query, at=at, partner_id=partner_id)
    scopes, millis = (report.scope, report.before), DAY_MILLIS
    totals = [[day.totals for day in each] for each in (report.days, report.previous_days)]
    if report.scope.window.length == 1:
        by_hour = partial(breakdown.read_each, connection, keys=[(Dimension.HOUR,)], filters=(), most=MOST_EVENTS)
        with suppress(ValidationError):  # too many events: the day is shown as one step
            hours = [by_hour(scope)[0].groups for scope in scopes]
            totals = [[each.get((hour,), NOTHING).reported for hour in range(24)] for each in hours]
            millis = HOUR_MILLIS
    steps = []
    for scope, each in zip(scopes, totals, strict=True):
        back = performance.read_refunds_by_time(connection, scope, millis)
        starts = (scope.window.starts_at + n * timedelta(milliseconds=millis) for n in range(len(each)))
        rows = zip(starts, each, strict=True)
        steps.append([Step(at, at, sums, back.get(at, metrics.RefundTotals()).refunded_cents) for at, sums in rows])
    return Results(report, millis == HOUR_MILLIS, *steps)


def read_profile(
    connection: Connection, program_id: int, partner_id: int, query: DateRangeQuery, *, at: datetime
) -> dict[str, Any]:
    """Return a partner's page for a range. Raises NotFound, and the errors of `read_performance`."""
    scope = ListScope(program_id, at)
    partner = get(connection, PARTNERS, scope, partner_id)
    theirs = ListQuery(MOST_NEWEST, filters={"partner_id": partner_id})
    coupons = ListQuery(MOST_COUPONS, filters={"partner_id": partner_id})
    open_flags = ListQuery(MOST_NEWEST, filters={"partner_id": partner_id, "state": FlagState.OPEN})
    results = read_results(connection, program_id, query, at=at, partner_id=partner_id)
    try:
        (read,) = breakdown.read_each(connection, results.report.scope, [_LINK], (), most=MOST_EVENTS)
        links = breakdown.rank(_BY_LINK, {}, read).groups
    except ValidationError:  # too many events
        links = []
    return {
        "partner": partner,
        "results": results,
        "links": [group for group in links if group.values[0]],
        "customers": find(connection, CUSTOMERS, scope, theirs),
        "commissions": find(connection, COMMISSIONS, scope, theirs),
        "coupons": find(connection, COUPONS, scope, coupons),
        "flags": find(connection, FLAGS, scope, open_flags),
    }


def read_report(
    connection: Connection, program_id: int, partner_id: int, query: DateRangeQuery, *, at: datetime
) -> dict[str, Any]:
    """Return what a partner brought, beside the window before. Raises the errors of `read_performance`."""
    report = performance.read_performance(connection, program_id, query, at=at, partner_id=partner_id)
    figures, months = comparison.read_figures(connection, report.scope, report.current)
    some = [day for day in report.days[-7 * MOST_WEEKS :] if any(day.totals)]
    mondays = (metrics.Day(day.date - timedelta(days=day.date.weekday()), day.totals) for day in some)
    return {
        "window": report.scope.window,
        "currency": report.currency,
        "totals": {name: figure for name, figure in figures.items() if name not in _OF_PROGRAMS},
        "trends": {
            name: each for name, each in metrics.trends(report.current, report.previous).items() if name != "partners"
        },
        "weeks": metrics.parts_of(list(mondays), metrics.Part.WEEK)[1],
        "refunds_by_month": months,
        "sold": comparison.read_sold(connection, report.scope).get(partner_id, comparison.SoldTotals()).figures,
        "holds": balances.next_holds(connection, program_id, partner_id, at=at),
        "customers": dict[str, int](connection.execute(_CUSTOMERS, report.scope.values).all()),
        "last_sale_at": connection.execute(_LAST_SALE, report.scope.values).scalar(),
    }
