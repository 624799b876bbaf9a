"""The column types that every table shares: aware UTC timestamps and event ids."""

from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import BigInteger, Column, ForeignKeyConstraint, MetaData, Table, event, text
from sqlalchemy.engine import Dialect
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.schema import SchemaItem
from sqlalchemy.types import TypeDecorator

HOUR_MILLIS = 3_600_000
DAY_MILLIS = 24 * HOUR_MILLIS
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def to_millis(at: datetime) -> int:
    """Return an aware timestamp as the integer that the database stores: milliseconds since 1970 UTC."""
    return (at - _EPOCH) // _MILLISECOND


def from_millis(stored: int) -> datetime:
    """Return stored milliseconds as an aware UTC timestamp."""
    return datetime.fromtimestamp(stored / 1000, UTC)


class Timestamp(TypeDecorator[datetime]):
    """An aware UTC timestamp, stored as milliseconds: small, ordered, and the same on every database."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> int | None:  # noqa: ARG002
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a timestamp must be aware")
        return to_millis(value)

    def process_result_value(self, value: int | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        return None if value is None else from_millis(value)


def table(name: str, *parts: SchemaItem) -> Table:
    """Return a table."""
    return Table(name, metadata, *parts)


def program_table(name: str, *parts: SchemaItem) -> Table:
    """Return a table that grows with a program: the program leads its key."""
    return table(name, Column("program_id", BigInteger, primary_key=True, autoincrement=False), *parts)


def event_table(name: str, *parts: SchemaItem) -> Table:
    """Return a table that grows with a program, whose rows have time-ordered ids."""
    return program_table(name, event_id(), *parts)


def reference(column: str, target: str, **options: Any) -> ForeignKeyConstraint:
    """Return the foreign key of a row of `program_table` to another of the same program."""
    return ForeignKeyConstraint(["program_id", column], [f"{target.partition('.')[0]}.program_id", target], **options)


def where(condition: str) -> dict[str, Any]:
    """Return the options of an index that has only the rows that meet a condition."""
    return {"sqlite_where": text(condition), "postgresql_where": text(condition)}


class AssignedId(BigInteger):
    """An id that the database assigns: BIGINT, because each node of a distributed database has a range of its own."""


@compiles(AssignedId, "sqlite")
def _row_id(*_: Any, **__: Any) -> str:
    return "INTEGER"  # the only name of SQLite's own row id


def assigned_id() -> Column[int]:
    """Return the column of the id that the database assigns, and on SQLite, too, never again once it is deleted."""
    column = Column("id", AssignedId, primary_key=True)
    event.listen(column, "after_parent_attach", lambda _, table: table.kwargs.update(sqlite_autoincrement=True))
    return column


def event_id() -> Column[int]:
    """Return the column of a time-ordered id (storage/engine/ids.py)."""
    return Column("id", BigInteger, primary_key=True, autoincrement=False)


def timestamp_column(name: str, **options: Any) -> Column[datetime]:
    """Return a timestamp column, required unless `nullable=True`."""
    return Column(name, Timestamp, **{"nullable": False, **options})
