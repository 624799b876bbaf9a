"""Statements over whole batches."""

from typing import Any

from sqlalchemy import Column, Connection, Integer, MetaData, Table, Text, select

from storage import Storage
from storage.engine.statements import Append

NOTES = Table("notes", MetaData(), Column("id", Integer), Column("body", Text), Column("at", Integer))
ROWS = [(1, 20, "first"), (2, 30, "second")]


async def test_rows_are_appended_whatever_the_order_of_their_columns_in_the_table(store: Storage):
    append = Append(NOTES, "id", "at", "body")

    def write(connection: Connection) -> Any:
        NOTES.create(connection)
        append(connection, ROWS)
        return connection.execute(select(NOTES.c.id, NOTES.c.at, NOTES.c.body).order_by(NOTES.c.id)).all()

    assert await store.write(write) == ROWS
