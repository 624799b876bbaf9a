"""The column types that tables share: aware UTC timestamps, and ids that the database assigns."""

from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import BigInteger, MetaData, type_coerce
from sqlalchemy.engine import Dialect
from sqlalchemy.ext.compiler import compiles
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


def stored_millis(column: Any) -> Any:
    """Return a column of timestamps as the integers that the database stores."""
    return type_coerce(column, BigInteger)


class AssignedId(BigInteger):
    """An id that the database assigns: BIGINT, because each node of a distributed database has a range of its own."""


@compiles(AssignedId, "sqlite")
def _row_id(*_: Any, **__: Any) -> str:
    return "INTEGER"  # the only name of SQLite's own row id
