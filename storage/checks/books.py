"""The check that every rollup, ledger and unique key agrees with the events: `svc admin db check`."""

from collections.abc import Iterator
from typing import Any

from sqlalchemy import Connection, func, select

from storage.checks import BookDifference, customers, ledger, rollups
from storage.tables import clicks, commissions, leads, refunds, refused_calls, sales
from storage.tables import customers as customers_table

# What the unique keys forbid, in case a database was restored or changed without them.
UNIQUE: tuple[tuple[str, Any, tuple[str, ...]], ...] = (
    ("sales with one transaction_id", sales, ("transaction_id",)),
    ("customers with one customer_key", customers_table, ("customer_key",)),
    ("customers made from one click", customers_table, ("click_id",)),
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
    parts = (_doubled, customers.differences, ledger.differences, rollups.differences)
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
