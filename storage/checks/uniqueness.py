"""Finds duplicates that the unique keys forbid, in case a database was restored or changed without those keys."""

from collections.abc import Iterator
from typing import Any

from sqlalchemy import Connection, func, select

from storage.checks.difference import BookDifference
from storage.tables import clicks, commissions, customers, leads, refunds, refused_calls, sales

UNIQUE: tuple[tuple[str, Any, tuple[str, ...]], ...] = (
    ("sales with one transaction_id", sales, ("transaction_id",)),
    ("customers with one customer_key", customers, ("customer_key",)),
    ("customers made from one click", customers, ("click_id",)),
    ("leads of one settlement", leads, ("customer_id", "settlement")),
    ("commissions on one sale", commissions, ("sale_id",)),
    ("commissions on one lead", commissions, ("lead_id",)),
    ("refunds with one refund_id", refunds, ("sale_id", "refund_id")),
    ("refunds by one request", refunds, ("request_id",)),
    ("clicks with one click_id", clicks, ("click_id",)),
    ("rejections of one request", refused_calls, ("request_id",)),
)


def differences(connection: Connection) -> Iterator[BookDifference]:
    """Return every value that more than one row of a program carries."""
    for what, table, names in UNIQUE:
        columns = [table.c[name] for name in names]
        key = [table.c.program_id, *columns]
        count = func.count().label("rows")
        present = [column.is_not(None) for column in columns]
        for row in connection.execute(select(*key, count).where(*present).group_by(*key).having(count > 1)):
            values = ", ".join(f"{name} {value}" for name, value in zip(names, row[1:-1], strict=True))
            yield BookDifference(what, f"program {row.program_id}, {values}", row.rows, 1)
