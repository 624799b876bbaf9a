"""Performance: a program's totals for each day of a range, and for the previous range, and what was refunded in them.

The totals are read from rollups, not from events.
"""

from datetime import date, datetime
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, Connection, Select, Table, func, select, true, type_coerce

from storage.engine.cursors import within
from storage.lists.commissions import net_cents
from storage.management.imported_events import FILTERED, REPORTED_BY
from storage.rules.errors import NotFound
from storage.rules.periods import period
from storage.rules.periods.month import Month
from storage.rules.periods.period import ChosenPeriod, DateRangeQuery, Period, Window
from storage.rules.reports.metrics import Day, RefundedMonth, RefundTotals, Totals, added
from storage.tables import clicks, commissions, customers, partner_rollups, programs, refunds, rollups, sales
from storage.tables.columns import from_millis

HOUR_MILLIS = 3_600_000
DAY_MILLIS = 24 * HOUR_MILLIS
REFUNDED_SALE = (sales.c.program_id == refunds.c.program_id) & (sales.c.id == refunds.c.sale_id)


class Performance(NamedTuple):
    """A report: one `days` entry for each day of `window`, their sum, and the same of the window before.

    Money is in cents of `currency`; `at` is the time of the report.
    """

    program_id: int
    currency: str
    period: Period
    window: Window
    previous_window: Window
    days: list[Day]
    previous_days: list[Day]
    current: Totals
    previous: Totals
    at: datetime


class CommissionByCause(NamedTuple):
    """What leads and sales of the window earned, in cents, after refunds and rejections."""

    lead_cents: int
    sale_cents: int
    previous_lead_cents: int
    previous_sale_cents: int


def read_performance(
    connection: Connection,
    program_id: int,
    query: DateRangeQuery,
    *,
    at: datetime,
    partner_id: int | None = None,
) -> Performance:
    """Return the report of a program, or of one of its partners, for a range.

    Raises InvalidPeriod, InvalidRange; NotFound if there is no such program.
    """
    currency, chosen = choose_period(connection, program_id, query, at=at)
    window, before = chosen.window, query.before or chosen.window.previous
    both = Window(min(before.first, window.first), max(before.last, window.last))
    stored = read_days(connection, program_id, both, partner_id)
    days, previous_days = ([Day(day, stored.get(day, Totals())) for day in each.days] for each in (window, before))
    current, previous = (added(Totals(), (day.totals for day in each)) for each in (days, previous_days))
    about = (program_id, currency, chosen.period, window, before)
    return Performance(*about, days, previous_days, current, previous, at)


def choose_period(
    connection: Connection, program_id: int, query: DateRangeQuery, *, at: datetime
) -> tuple[str, ChosenPeriod]:
    """Return a program's currency and its range; `all` starts with its creation or, if that is before, its first day.

    Raises InvalidPeriod, InvalidRange; NotFound if there is no such program.
    """
    of_program = select(programs.c.created_at, programs.c.currency).where(programs.c.id == program_id)
    program = connection.execute(of_program).one_or_none()
    if program is None:
        raise NotFound
    created_at = program.created_at
    if query.period == Period.ALL:
        recorded = select(func.min(rollups.c.day)).where(rollups.c.program_id == program_id)
        if (first_day := connection.execute(recorded).scalar()) is not None:
            created_at = min(created_at, Window(first_day, first_day).starts_at)
    return program.currency, period.choose(query, created_at=created_at, at=at)


def read_days(
    connection: Connection, program_id: int, window: Window, partner_id: int | None = None
) -> dict[date, Totals]:
    """Return the totals of the days of a window that have some: of the program, or of one of its partners."""
    table = rollups if partner_id is None else partner_rollups
    mine = [table.c.program_id == program_id, table.c.day.between(window.first, window.last)]
    if partner_id is not None:
        mine.append(table.c.partner_id == partner_id)
    rows = connection.execute(select(*(table.c[name] for name in ("day", *Totals._fields))).where(*mine))
    return {day: Totals(*counts) for day, *counts in rows}


def read_refunds_by_time(
    connection: Connection, program_id: int, window: Window, millis: int, *, partner_id: int | None = None
) -> dict[datetime, RefundTotals]:
    """Return the refunds that were made in each hour or day of a window: the program's, or of a partner's customers."""
    start = type_coerce(refunds.c.at, BigInteger) // millis
    grouped = _refunds(program_id, window, start).order_by(start)
    if partner_id is not None:
        grouped = grouped.join(sales, REFUNDED_SALE).where(sales.c.partner_id == partner_id)
    return {from_millis(row[0] * millis): RefundTotals(*map(int, row[1:])) for row in connection.execute(grouped)}


def read_refunds_by_month(
    connection: Connection, program_id: int, window: Window, *, partner_id: int | None = None
) -> list[RefundedMonth]:
    """Return the same for each month with some, and which of its days the window has."""
    months: dict[Month, list[RefundTotals]] = {}
    for day, totals in read_refunds_by_time(connection, program_id, window, DAY_MILLIS, partner_id=partner_id).items():
        months.setdefault(Month.of(day), []).append(totals)
    return [
        RefundedMonth(
            str(month),
            max(window.first, month.starts_at.date()),
            min(window.last, month.last_day),
            *added(RefundTotals(), days),
        )
        for month, days in months.items()
    ]


def read_refunds_by_partner(connection: Connection, program_id: int, window: Window) -> dict[int, RefundTotals]:
    """Return the same for the customers of each partner with some."""
    grouped = _refunds(program_id, window, sales.c.partner_id).join(sales, REFUNDED_SALE)
    return {row[0]: RefundTotals(*map(int, row[1:])) for row in connection.execute(grouped)}


def _refunds(program_id: int, window: Window, key: Any) -> Select[Any]:
    """Return the statement of the refunds that were made in a window, by a key."""
    back, mine = refunds.c, (*inside(refunds, refunds.c.at, program_id, window), refunds.c.amount_cents != 0)
    sums = (func.count(), func.sum(back.program_cents), func.sum(back.reversed_cents))
    return select(key, *sums).select_from(refunds).where(*mine).group_by(key)


def count_imported(connection: Connection, program_id: int, window: Window, *, partner_id: int | None = None) -> int:
    """Return how many of the conversions in a window an import reported."""
    row, click = customers.c, clicks.c
    first = (row.program_id == sales.c.program_id) & (row.id == sales.c.customer_id)
    bought = sales.join(customers, first & (row.first_purchase_at == sales.c.occurred_at))
    source = bought.join(clicks, (click.program_id == row.program_id) & (click.click_id == row.click_id))
    mine = (sales.c.provenance == REPORTED_BY, click.filtered == FILTERED)
    theirs = true() if partner_id is None else row.partner_id == partner_id
    inside_it = inside(sales, sales.c.occurred_at, program_id, window)
    return connection.execute(select(func.count()).select_from(source).where(*inside_it, *mine, theirs)).scalar_one()


def read_commission_by_cause(connection: Connection, report: Performance) -> CommissionByCause:
    """Return what the leads and the sales earned whose commissions were created in the windows."""
    by_lead, found = commissions.c.lead_id.is_not(None), []
    for window in (report.window, report.previous_window):
        mine = inside(commissions, commissions.c.created_at, report.program_id, window)
        rows = connection.execute(select(by_lead, func.sum(net_cents())).where(*mine).group_by(by_lead)).all()
        sums = dict[bool, int](map(tuple, rows))
        found += [int(sums.get(cause, 0)) for cause in (True, False)]
    return CommissionByCause(*found)


def inside(table: Table, at: Any, program_id: int, window: Window) -> tuple[Any, ...]:
    """Return the conditions for the rows of a program in a window."""
    return (table.c.program_id == program_id, *within(table.c.id, at, window.span))
