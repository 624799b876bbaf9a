"""Finds duplicates that the unique keys forbid, in case a database was restored or changed without those keys."""

from collections.abc import Iterator
from typing import Any

from sqlalchemy import Connection, func, select

from storage.checks.difference import Difference
from storage.tables import commissions, customers, leads, refunds, sales

UNIQUE: tuple[tuple[str, Any, tuple[str, ...]], ...] = (
    ("sales with one transaction_id", sales, ("transaction_id",)),
    ("customers with one customer_key", customers, ("customer_key",)),
    ("customers made from one click", customers, ("click_id",)),
    ("leads of one settlement", leads, ("customer_id", "settlement")),
    ("commissions on one sale", commissions, ("sale_id",)),
    ("commissions on one lead", commissions, ("lead_id",)),
    ("refunds with one refund_id", refunds, ("sale_id", "refund_id")),
)


def differences(connection: Connection) -> Iterator[Difference]:
    """Return every value that more than one row of a program carries, and every refund that is stored twice."""
    yield from _repeated_refunds(connection)
    for what, table, names in UNIQUE:
        columns = [table.c[name] for name in names]
        key = [table.c.program_id, *columns]
        count = func.count().label("rows")
        present = [column.is_not(None) for column in columns]
        for row in connection.execute(select(*key, count).where(*present).group_by(*key).having(count > 1)):
            values = ", ".join(f"{name} {value}" for name, value in zip(names, row[1:-1], strict=True))
            yield Difference(what, f"program {row.program_id}, {values}", row.rows, 1)


def _repeated_refunds(connection: Connection) -> Iterator[Difference]:
    """Return refunds without a refund_id that share their sale, time and amount, and so come from one request.

    A batch that was stored twice leaves such rows; with a refund_id the unique key prevents it.
    """
    refund, count = refunds.c, func.count().label("rows")
    same = (refund.program_id, refund.sale_id, refund.at, refund.amount_cents)
    repeated = select(*same, count).where(refund.refund_id.is_(None)).group_by(*same, refund.reason).having(count > 1)
    for row in connection.execute(repeated):
        where = (
            f"program {row.program_id}, sale {row.sale_id} at {row.at:%Y-%m-%d %H:%M:%S} of {row.amount_cents} cents"
        )
        yield Difference("refunds of one request", where, row.rows, 1)
