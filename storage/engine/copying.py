"""Copies every row to another database, chunk by chunk. The target stores how far that came, so a copy can go on."""

import json
from collections.abc import Sequence
from datetime import date
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, Column, Connection, MetaData, Table, Text, func, insert, literal, select, tuple_

from storage.engine import database
from storage.tables import committed_batches, metadata, program_batches, recurring_tasks

ROWS_AT_ONCE = 5_000
TABLES = [
    table for table in metadata.sorted_tables if table not in {committed_batches, program_batches, recurring_tasks}
]  # notes of the processes
_progress = Table(
    "copy_progress",  # it exists in the target while a copy is unfinished
    MetaData(),
    Column("copied", Text, primary_key=True),
    Column("source", Text, nullable=False),
    Column("rows", BigInteger, nullable=False),
    Column("last_key", Text, nullable=False),
)


class Position(NamedTuple):
    rows: int = 0  # that are copied so far
    last_key: Sequence[Any] | None = None  # of the last one


def is_unfinished(connection: Connection) -> bool:
    """Return whether a copy into this database has begun and has not ended."""
    return connection.dialect.has_table(connection, _progress.name)


def begin(connection: Connection, source: str) -> dict[str, Position] | None:
    """Prepare the target, and return how far each table is copied from this source; None if other rows are in it."""
    is_new = not is_unfinished(connection)
    if is_new and any(connection.execute(select(table).limit(1)).first() for table in TABLES):
        return None
    _progress.create(connection, checkfirst=True)
    stored = connection.execute(select(_progress)).all()
    if any(row.source != source for row in stored):
        return None
    return {row.copied: Position(row.rows, json.loads(row.last_key)) for row in stored}


def read_chunk(connection: Connection, table: Table, last_key: Sequence[Any] | None) -> list[dict[str, Any]]:
    """Return the source's next rows, in the order of the table's key; fewer than ROWS_AT_ONCE are the last ones."""
    key = list(table.primary_key.columns)
    some = select(table).order_by(*key).limit(ROWS_AT_ONCE)
    if last_key is not None:
        values = [
            date.fromisoformat(value) if column.type.python_type is date else value
            for column, value in zip(key, last_key, strict=True)
        ]
        last = (literal(value, column.type) for column, value in zip(key, values, strict=True))
        some = some.where(tuple_(*key) > tuple_(*last))
    return [dict(row) for row in connection.execute(some).mappings()]


def store_chunk(
    connection: Connection, table: Table, rows: list[dict[str, Any]], before: Position, source: str
) -> Position:
    """Store rows in the target, with the position after them, and return that."""
    connection.execute(insert(table), rows)
    last_key = json.dumps([rows[-1][column.name] for column in table.primary_key], default=str)
    position = {"source": source, "rows": before.rows + len(rows), "last_key": last_key}
    upsert = database.insert_for(connection)(_progress).values(copied=table.name, **position)
    connection.execute(upsert.on_conflict_do_update(index_elements=[_progress.c.copied], set_=position))
    return Position(before.rows + len(rows), json.loads(last_key))


def finish(connection: Connection, largest_ids: dict[str, int]) -> None:
    """Let the target give new rows ids above those that the source has ever assigned, and forget the positions."""
    database.assign_ids_above(connection, largest_ids)
    _progress.drop(connection)


def counts(connection: Connection) -> dict[str, int]:
    """Return the number of rows of each table."""
    return {table.name: connection.execute(select(func.count()).select_from(table)).scalar_one() for table in TABLES}
