"""One partner's results: the days of a window, refunds by month, and customers by status."""

from datetime import date, datetime
from typing import NamedTuple

from sqlalchemy import Connection, func, select

from storage.reports import refunds
from storage.reports.performance import Totals
from storage.reports.refunds import RefundedMonth
from storage.rules.periods.period import Window
from storage.tables import customers, partner_rollups, sales


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
        refunds=refunds.by_month(connection, program_id, window.span, partner_id=partner_id),
        customers=_customers(connection, *mine),
        last_sale_at=_last_sale_at(connection, *mine),
    )


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
