"""The check that every rollup, ledger and unique key agrees with the events: `svc admin db check`."""

from collections.abc import Iterator
from typing import Any

from sqlalchemy import Connection, and_, func, select

from storage.checks import ledger, rollups
from storage.checks.ledger import BookDifference, compare
from storage.rules.settlement import CustomerStatus
from storage.tables import clicks, commissions, customers, leads, partners, refunds, refused_calls, sales
from storage.tables.columns import to_millis

# What the unique keys forbid, in case a database was restored or changed without them.
UNIQUE: tuple[tuple[str, Any, tuple[str, ...]], ...] = (
    ("sales with one transaction_id", sales, ("transaction_id",)),
    ("customers with one customer_key", customers, ("customer_key",)),
    ("customers known by one customer_key", customers, ("known_as",)),
    ("customers made from one click", customers, ("click_id",)),
    ("leads of one settlement", leads, ("customer_id", "settlement")),
    ("commissions on one sale", commissions, ("sale_id",)),
    ("commissions on one lead", commissions, ("lead_id",)),
    ("refunds with one refund_id", refunds, ("sale_id", "refund_id")),
    ("refunds by one request", refunds, ("request_id",)),
    ("clicks with one click_id", clicks, ("click_id",)),
    ("rejections of one request", refused_calls, ("request_id",)),
)


def run(connection: Connection) -> list[BookDifference]:
    """Recompute everything that is stored twice, over one snapshot, and return each difference."""
    parts = (_doubled, _customers, _without_partner, ledger.differences, rollups.differences)
    return [difference for part in parts for difference in part(connection)]


def _doubled(connection: Connection) -> Iterator[BookDifference]:
    """Yield every value that more than one row of a program carries."""
    for what, table, names in UNIQUE:
        columns = [table.c[name] for name in names]
        key = [table.c.program_id, *columns]
        count = func.count().label("rows")
        present = [column.is_not(None) for column in columns]
        for row in connection.execute(select(*key, count).where(*present).group_by(*key).having(count > 1)):
            values = ", ".join(f"{name} {value}" for name, value in zip(names, row[1:-1], strict=True))
            yield BookDifference(what, f"program {row.program_id}, {values}", row.rows, 1)


def _customers(connection: Connection) -> Iterator[BookDifference]:
    """Yield customers whose status or first purchase does not follow from the number and times of their sales."""
    sale, customer, count = sales.c, customers.c, func.count(sales.c.id)
    mine = and_(sale.program_id == customer.program_id, sale.customer_id == customer.id)
    key = (customer.program_id, customer.id, customer.status, customer.first_purchase_at)
    same_time = func.count().filter(sale.occurred_at == customer.first_purchase_at)
    earliest = func.min(sale.occurred_at).label("earliest_at")
    counted = select(*key, count.label("sales"), same_time.label("same_time"), earliest).group_by(*key)
    converted, purchased = customer.status == CustomerStatus.CONVERSION, customer.first_purchase_at.is_not(None)
    wrong = (converted != (count > 0)) | (purchased != (count > 0)) | ((count > 0) & (same_time == 0))
    for row in connection.execute(counted.select_from(customers.outerjoin(sales, mine)).having(wrong)):
        stored, first = (to_millis(at) if at else 0 for at in (row.first_purchase_at, row.earliest_at))
        yield from compare(
            f"program {row.program_id}, customer {row.id}",
            ("conversion status", row.status == CustomerStatus.CONVERSION, row.sales > 0),
            ("first purchase in milliseconds", stored, stored if row.same_time else first),
        )


def _without_partner(connection: Connection) -> Iterator[BookDifference]:
    """Yield the partners who do not exist but have clicks."""
    click, count = clicks.c, func.count().label("rows")
    sender = and_(partners.c.program_id == click.program_id, partners.c.id == click.partner_id)
    lost = select(click.program_id, click.partner_id, count).select_from(clicks.outerjoin(partners, sender))
    for row in connection.execute(lost.where(partners.c.id.is_(None)).group_by(click.program_id, click.partner_id)):
        where = f"program {row.program_id}, partner {row.partner_id}"
        yield BookDifference("clicks without a partner", where, row.rows, 0)
