"""Compares customers and clicks with the rows that they depend on: sales and partners."""

from collections.abc import Iterator
from typing import Any

from sqlalchemy import Connection, and_, func, select

from storage.checks import BookDifference, compare
from storage.rules.settlement import CustomerStatus
from storage.tables import clicks, customers, partners, sales
from storage.tables.columns import to_millis


def differences(connection: Connection) -> Iterator[BookDifference]:
    """Return customers whose status or first purchase disagrees with their sales, and clicks without a partner."""
    for row in connection.execute(_contradicting()):
        yield from _customer(row)
    for row in connection.execute(_without_partner()):
        yield BookDifference(
            "clicks without a partner", f"program {row.program_id}, partner {row.partner_id}", row.rows, 0
        )


def _customer(row: Any) -> Iterator[BookDifference]:
    where = f"program {row.program_id}, customer {row.id}"
    stored, earliest = (to_millis(at) if at else 0 for at in (row.first_purchase_at, row.earliest_at))
    purchase = ("first purchase in milliseconds", stored, stored if row.same_time else earliest)
    yield from compare(where, ("conversion status", row.status == CustomerStatus.CONVERSION, row.sales > 0), purchase)


def _contradicting() -> Any:
    """Select customers whose status or first purchase does not follow from the number and times of their sales."""
    sale, customer = sales.c, customers.c
    same_time = func.count().filter(sale.occurred_at == customer.first_purchase_at)
    count = func.count(sale.id)
    mine = and_(sale.program_id == customer.program_id, sale.customer_id == customer.id)
    key = (customer.program_id, customer.id, customer.status, customer.first_purchase_at)
    earliest = func.min(sale.occurred_at).label("earliest_at")
    counted = select(*key, count.label("sales"), same_time.label("same_time"), earliest).select_from(
        customers.outerjoin(sales, mine)
    )
    converted = customer.status == CustomerStatus.CONVERSION
    purchased = customer.first_purchase_at.is_not(None)
    wrong = (converted != (count > 0)) | (purchased != (count > 0)) | ((count > 0) & (same_time == 0))
    return counted.group_by(*key).having(wrong)


def _without_partner() -> Any:
    click, count = clicks.c, func.count().label("rows")
    sender = and_(partners.c.program_id == click.program_id, partners.c.id == click.partner_id)
    lost = select(click.program_id, click.partner_id, count).select_from(clicks.outerjoin(partners, sender))
    return lost.where(partners.c.id.is_(None)).group_by(click.program_id, click.partner_id)
