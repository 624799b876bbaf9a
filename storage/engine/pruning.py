"""Deletes expired rows in chunks: one statement over a large backlog would reach the time limit, hour after hour."""

from typing import Any

from sqlalchemy import Connection, Table, delete, select, tuple_

ROWS_AT_ONCE = 5_000


def delete_some(connection: Connection, table: Table, *expired: Any) -> int:
    """Delete at most ROWS_AT_ONCE of the rows that meet the conditions; return how many. Fewer: none is left."""
    keys = table.primary_key.columns
    some = select(*keys).where(*expired).limit(ROWS_AT_ONCE)
    return connection.execute(delete(table).where(tuple_(*keys).in_(some))).rowcount
