"""One partner's results: the days of a window, refunds by month, and customers by status."""

from datetime import date, datetime
from typing import NamedTuple

from sqlalchemy import BigInteger, Connection, func, select, type_coerce

from storage.engine import pagination
from storage.reading.performance import Totals
from storage.rules.period import Span, Window
from storage.tables import customers, partner_rollups, refunds, sales
from storage.tables.columns import from_millis

DAY_MILLIS = 86_400_000


class RefundedMonth(NamedTuple):
    """The refunds of a month, in cents of the program's currency, and the commission that they took back."""

    month: str
    refunds: int
    refunded_cents: int
    reversed_cents: int


class PartnerResults(NamedTuple):
    """What one partner brought in a window, and in the window before."""

    days: dict[date, Totals]
    previous: dict[date, Totals]
    refunds: list[RefundedMonth]
    customers: dict[str, int]
    last_sale_at: datetime | None


def get_results(connection: Connection, program_id: int, partner_id: int, window: Window) -> PartnerResults:
    """Return the results of one partner."""
    mine = (program_id, partner_id)
    return PartnerResults(
        days=_days(connection, *mine, window),
        previous=_days(connection, *mine, window.previous),
        refunds=refunds_by_month(connection, program_id, window.span, partner_id=partner_id),
        customers=_customers(connection, *mine),
        last_sale_at=_last_sale_at(connection, *mine),
    )


def refunds_by_month(
    connection: Connection, program_id: int, span: Span, *, partner_id: int | None = None
) -> list[RefundedMonth]:
    """Return the refunds of the program, or of one partner's customers, for each month of a span that has some."""
    back, sale = refunds.c, sales.c
    day = type_coerce(back.at, BigInteger) // DAY_MILLIS
    sums = [func.sum(column).label(column.name) for column in (back.program_cents, back.reversed_cents)]
    joined = refunds.join(sales, (sale.program_id == back.program_id) & (sale.id == back.sale_id))
    daily = select(day.label("day"), func.count().label("refunds"), *sums).select_from(joined)
    daily = daily.where(back.program_id == program_id, *pagination.within(back.id, back.at, span)).group_by(day)
    if partner_id is not None:
        daily = daily.where(sale.partner_id == partner_id)
    months: dict[str, RefundedMonth] = {}
    for row in connection.execute(daily.order_by(day)):
        month = f"{from_millis(row.day * DAY_MILLIS):%Y-%m}"
        before = months.get(month, RefundedMonth(month, 0, 0, 0))
        months[month] = RefundedMonth(
            month,
            before.refunds + row.refunds,
            before.refunded_cents + int(row.program_cents),
            before.reversed_cents + int(row.reversed_cents),
        )
    return list(months.values())


def _days(connection: Connection, program_id: int, partner_id: int, window: Window) -> dict[date, Totals]:
    row = partner_rollups.c
    columns = [row[name] for name in ("day", *Totals._fields)]
    mine = (row.program_id == program_id, row.partner_id == partner_id, row.day.between(window.first, window.last))
    return {
        day: Totals(*counts) for day, *counts in connection.execute(select(*columns).where(*mine).order_by(row.day))
    }


def _customers(connection: Connection, program_id: int, partner_id: int) -> dict[str, int]:
    mine = (customers.c.program_id == program_id, customers.c.partner_id == partner_id)
    counted = select(customers.c.status, func.count().label("total")).where(*mine).group_by(customers.c.status)
    return {row.status: row.total for row in connection.execute(counted)}


def _last_sale_at(connection: Connection, program_id: int, partner_id: int) -> datetime | None:
    mine = (sales.c.program_id == program_id, sales.c.partner_id == partner_id)
    return connection.execute(select(func.max(sales.c.occurred_at)).where(*mine)).scalar()
