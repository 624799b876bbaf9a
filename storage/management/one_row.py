"""One row of a program's list, by its id: locked and read before an operation, logged and read after it."""

from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Table, and_, select, update

from storage.engine import audit
from storage.engine.audit import By, Change
from storage.lists.declaration import List, ListScope, Row
from storage.lists.find import get


def of(table: Table, program_id: int, row_id: int) -> ColumnElement[bool]:
    """Return the condition of a program's row."""
    return and_(table.c.program_id == program_id, table.c.id == row_id)


def lock(connection: Connection, wanted: List[Row], program_id: int, row_id: int, *, at: datetime) -> Row:
    """Lock a row until the transaction ends, and return it. Raises NotFound."""
    connection.execute(select(wanted.table.c.id).where(of(wanted.table, program_id, row_id)).with_for_update())
    return get(connection, wanted, ListScope(program_id, at), row_id)


def change(
    connection: Connection, wanted: List[Row], program_id: int, row_id: int, /, *changes: Change, by: By, **values: Any
) -> Row:
    """Give columns of a row new values, if there are any, log the changes, and return the row."""
    if values:
        connection.execute(update(wanted.table).where(of(wanted.table, program_id, row_id)).values(values))
    audit.write(connection, program_id, changes, by=by)
    return get(connection, wanted, ListScope(program_id, by.at), row_id)
