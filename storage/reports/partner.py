"""One partner: their page (results, balance, links in use, newest rows), and their report for assistants."""

from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, func, select

from storage.lists import balances
from storage.lists.commissions import COMMISSIONS
from storage.lists.customers import CUSTOMERS
from storage.lists.declaration import ListQuery, ListScope
from storage.lists.find import find, get
from storage.lists.flags import FLAGS
from storage.lists.partners import PARTNERS
from storage.reports import breakdown, chart, comparison, performance
from storage.reports.chart import MOST_EVENTS
from storage.reports.comparison import SoldTotals
from storage.rules.errors import ValidationError
from storage.rules.fraud.flag import FlagState
from storage.rules.periods.period import DateRangeQuery
from storage.rules.reports import metrics
from storage.rules.reports.breakdown import BreakdownGroup, BreakdownQuery, Dimension, DimensionFilter, Metric, Operator
from storage.rules.reports.metrics import Day, Part
from storage.tables import customers, sales

MOST_NEWEST = 5
MOST_LINKS = 10
_OF_PROGRAMS = {"average_order_cents", "reversed_cents"}  # figures that a partner's report leaves out
MOST_WEEKS = 27
_LINK = (Dimension.LANDING_PATH, Dimension.CAMPAIGN)


def read_profile(
    connection: Connection, program_id: int, partner_id: int, query: DateRangeQuery, *, at: datetime
) -> dict[str, Any]:
    """Return a partner's page for a range, with the newest rows, and the links with the most clicks in it.

    A link is a path and a campaign (None: it has none). Raises NotFound, and the errors of `read_performance`.
    """
    scope = ListScope(program_id, at)
    partner = get(connection, PARTNERS, scope, partner_id)
    theirs = ListQuery(MOST_NEWEST, filters={"partner_id": partner_id})
    open_flags = ListQuery(MOST_NEWEST, filters={"partner_id": partner_id, "state": FlagState.OPEN})
    results = chart.read_results(connection, program_id, query, at=at, partner=partner)
    sent = [DimensionFilter(Dimension.PARTNER, Operator.IS, partner.code)]
    by_link = BreakdownQuery(_LINK, sent, tuple(Metric), Metric.CLICKS, MOST_LINKS)
    links: list[BreakdownGroup] = []
    with suppress(ValidationError):  # too many events
        window, most = results.report.window, MOST_EVENTS
        links = breakdown.read_groups(connection, program_id, window, by_link, at=at, most_events=most).groups
    return {
        "partner": partner,
        "results": results,
        "balance": partner.balance,
        "links": [group for group in links if group.values[0]],
        "customers": find(connection, CUSTOMERS, scope, theirs),
        "commissions": find(connection, COMMISSIONS, scope, theirs),
        "flags": find(connection, FLAGS, scope, open_flags),
    }


def read_report(
    connection: Connection, program_id: int, partner_id: int, query: DateRangeQuery, *, at: datetime
) -> dict[str, Any]:
    """Return what a partner brought, beside the window before. Raises the errors of `read_performance`."""
    report = performance.read_performance(connection, program_id, query, at=at, partner_id=partner_id)
    figures, months = comparison.read_figures(connection, program_id, report.window, report.current, partner_id)
    some = [day for day in report.days[-7 * MOST_WEEKS :] if any(day.totals)]
    mondays = (Day(day.date - timedelta(days=day.date.weekday()), day.totals) for day in some)
    sold = comparison.read_sold(connection, program_id, report.window, partner_id=partner_id)
    sent = (customers.c.program_id == program_id, customers.c.partner_id == partner_id)
    counted = select(customers.c.status, func.count()).where(*sent).group_by(customers.c.status)
    bought = (sales.c.program_id == program_id, sales.c.partner_id == partner_id)
    return {
        "window": report.window,
        "currency": report.currency,
        "totals": {name: figure for name, figure in figures.items() if name not in _OF_PROGRAMS},
        "trends": {
            name: each for name, each in metrics.trends(report.current, report.previous).items() if name != "partners"
        },
        "weeks": metrics.parts_of(list(mondays), Part.WEEK)[1],
        "refunds_by_month": months,
        "sold": sold.get(partner_id, SoldTotals()).figures,
        "holds": balances.next_holds(connection, program_id, partner_id, at=at),
        "customers": dict(connection.execute(counted).all()),
        "last_sale_at": connection.execute(select(func.max(sales.c.occurred_at)).where(*bought)).scalar(),
    }
