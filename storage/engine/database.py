"""Connections to SQLite and PostgreSQL, and what differs between them: the only file that knows a dialect."""

from collections import namedtuple
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Select, text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from storage.engine.citus import BY_KEY, SQL
from storage.engine.lane import Lane, OwnThread, WriteLane
from storage.engine.postgres_lane import PostgresLane
from storage.engine.sqlite_file import DatabaseFile
from storage.engine.sqlite_lane import SqliteLane
from storage.tables import metadata

WRITE_LANES = READERS = 4
ASSIGNED = [table.name for table in metadata.sorted_tables if table.autoincrement_column is not None]
BUSY_MILLISECONDS = 4_000
MIGRATING, SETTING_UP = 7_275_637, 7_275_638  # locks
PATIENT_MILLISECONDS = 60_000
_row_type: Any = cache(namedtuple)  # noqa: PYI024 - the columns of a statement are known when it runs
_READING = ("PRAGMA query_only = ON",)
_SAVING = "PRAGMA wal_checkpoint(FULL)"
_WRITING = ("PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL")


# How a database reads the rows of a statement's JSON parameter (the source, and an item by its position), and whether
# it locks those that it reads FOR UPDATE: SQLite has one writer.
ROWS_SYNTAX = {
    "sqlite": ("json_each(?1) AS {0}", "({0}.value ->> {1})", False),
    "postgresql": ("jsonb_array_elements(CAST($1 AS text)::jsonb) AS {0}", "CAST({0}.value ->> {1} AS {2})", True),
}
_LAST_ID = {
    "sqlite": "SELECT seq FROM sqlite_sequence WHERE name = '{0}'",
    "postgresql": "SELECT pg_sequence_last_value(pg_get_serial_sequence('{0}', 'id')::regclass)",
}
_GO_ON = {
    "sqlite": "UPDATE sqlite_sequence SET seq = :largest WHERE name = '{0}'",
    "postgresql": "SELECT setval(pg_get_serial_sequence('{0}', 'id'), :largest)",
}


def lanes(url: URL, *, patient: bool = False) -> tuple[list[WriteLane], list[Lane]]:
    """Return the lanes that may write, one on SQLite, and those that cannot; `patient` ones have no time limits."""
    if is_sqlite(url):
        file = DatabaseFile(file_of(url))
        busy = f"PRAGMA busy_timeout = {PATIENT_MILLISECONDS if patient else BUSY_MILLISECONDS}"
        shared = (busy, "PRAGMA foreign_keys = ON", "PRAGMA cache_size = -16384")
        return [SqliteLane(file, read_only=False, settings=(*shared, *_WRITING), saving=_SAVING)], [
            SqliteLane(file, read_only=True, settings=(*shared, *_READING)) for _ in range(READERS)
        ]
    return [PostgresLane(url, read_only=False, patient=patient) for _ in range(WRITE_LANES)], [
        OwnThread(PostgresLane(url, read_only=True, patient=patient)) for _ in range(READERS)
    ]


def parse_url(url: str) -> URL:
    """Return the parsed database URL, or raise ValueError naming the two supported kinds."""
    try:
        parsed = make_url(url)
    except ValueError:  # a port that is no number
        raise ArgumentError(url) from None
    if parsed.drivername not in {"sqlite+aiosqlite", "postgresql+asyncpg"}:
        raise ValueError("SVC_DATABASE_URL must start with sqlite+aiosqlite:/// or postgresql+asyncpg://")
    if is_sqlite(parsed) and parsed.database in {None, "", ":memory:"}:
        raise ValueError("SVC_DATABASE_URL must name a file: an in-memory database would lose every event")
    return parsed


def file_of(url: URL) -> Path:
    """Return the file of an embedded database."""
    return Path(str(url.database)).absolute()


def is_sqlite(url: URL) -> bool:
    """Return whether the URL is that of the embedded database."""
    return url.drivername.startswith("sqlite")


def lock_alone(connection: Connection, lock: int) -> None:
    """Let one transaction at a time migrate, or set the service up; SQLite's BEGIN IMMEDIATE is such a lock."""
    if is_server(connection):
        connection.execute(text(f"SELECT pg_advisory_xact_lock({lock})"))
        # Citus changes related tables in one transaction only over one connection to each node.
        connection.execute(text("SET LOCAL citus.multi_shard_modify_mode TO 'sequential'"))


def is_server(connection: Connection) -> bool:
    """Return whether it is PostgreSQL, with clicks by month and a round trip for each statement."""
    return connection.dialect.name == "postgresql"


def lock_rows(connection: Connection, rows: Select[Any], **how: Any) -> None:
    """Lock rows, as `with_for_update` takes it, until the transaction ends; SQLite needs no lock: it has one writer."""
    if is_server(connection):
        connection.execute(rows.with_for_update(**how))


def plan_for_many(connection: Connection) -> None:
    """Let PostgreSQL join thousands of rows in the rest of a transaction: elsewhere writers read by key (citus.py)."""
    if is_server(connection):
        names = (name for name in BY_KEY if name.startswith("enable"))
        allowed = ", ".join(f"set_config('{name}', 'on', true)" for name in names)
        connection.execute(text(f"SELECT {allowed}"))


def largest_assigned_ids(connection: Connection) -> dict[str, int]:
    """Return the largest id that each table has, or has ever assigned: other nodes of a cluster assign some, too."""
    last = _LAST_ID[connection.dialect.name]
    found = {
        table: connection.execute(text(f"SELECT ({last.format(table)}), max(id) FROM {table}")).one()  # noqa: S608 - our own table
        for table in ASSIGNED
    }
    return {table: max(each or 0 for each in ids) for table, ids in found.items()}


def assign_ids_above(connection: Connection, largest_ids: dict[str, int]) -> None:
    """Let each table assign ids above these and above those that it has ever assigned itself, also in a copy."""
    for table, own in largest_assigned_ids(connection).items():
        if past := max(own, largest_ids[table]):
            connection.execute(text(_GO_ON[connection.dialect.name].format(table)), {"largest": past})


def analyze_new_tables(connection: Connection) -> list[str]:
    """Have PostgreSQL look at the tables that have rows and that it has never looked at; return their names.

    All indexes of a program's rows begin with the program. For an empty table each costs the same, and the writers'
    plan may read all rows of the program for each item, until autovacuum comes, which takes a minute or more. ANALYZE
    replaces the plan (PostgreSQL, PREPARE). SQLite keeps no such plans: it returns none.
    """
    if not is_server(connection):
        return []
    names = list(connection.execute(text(SQL["new_tables"])).scalars())
    for name in names:
        connection.execute(text(f"ANALYZE {name}"))
    return names


def run_prepared(connection: Connection, sql: str, values: tuple[Any, ...]) -> Sequence[Any]:
    """Run a compiled statement and return its rows, with named columns; SQLite's own cursor costs half of a result."""
    if is_server(connection):
        result = connection.exec_driver_sql(sql, values)
        return result.fetchall() if result.returns_rows else ()
    driver: Any = connection.connection.driver_connection
    cursor = driver.execute(sql, values)
    rows = cursor.fetchall()
    return list(map(_row_type("Row", tuple(column[0] for column in cursor.description))._make, rows)) if rows else ()


def insert_for(connection: Connection) -> Callable[..., Any]:
    """Return the dialect's INSERT, the one with ON CONFLICT."""
    return postgresql.insert if is_server(connection) else sqlite.insert
