"""Engines and connections for SQLite and PostgreSQL: the only file that knows a dialect."""

import asyncio
import sqlite3
from collections import namedtuple
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Protocol, TypeVar

import aiosqlite
from sqlalchemy import (
    Connection,
    Select,
    create_engine,
    event,
    text,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import URL, make_url
from sqlalchemy.ext.asyncio import AsyncConnection, create_async_engine
from sqlalchemy.pool import NullPool, StaticPool

Result = TypeVar("Result")
Work = Callable[[Connection], Result]
WRITE_LANES = READERS = 4
BUSY_MILLISECONDS = 10_000
# A writer finds rows by key. A plan cached while the tables were empty would scan them for as long as it lives, so
# writers take indexes and loops whatever the statistics say; and no JIT, which the costs of such plans would start.
_BY_KEY = {"enable_seqscan": "off", "enable_hashjoin": "off", "enable_mergejoin": "off", "jit": "off"}
_READ_ONLY_ACTIONS = {
    sqlite3.SQLITE_SELECT,
    sqlite3.SQLITE_READ,
    sqlite3.SQLITE_FUNCTION,
    sqlite3.SQLITE_TRANSACTION,
    sqlite3.SQLITE_RECURSIVE,
}


class Lane(Protocol):
    """One connection at a time: runs a function over it, in one transaction, off the event loop's back."""

    async def run(self, work: Work[Result]) -> Result:
        """Run `work` in a transaction; commit when it returns (writers), roll back when it raises."""

    async def close(self) -> None:
        """Give the connection back."""


class SqliteLane:
    """A SQLite connection on aiosqlite's thread; a whole transaction crosses to that thread once.

    aiosqlite has no public call that runs a function on its thread, so this uses `Connection._execute`, which all
    its public calls go through; tests/storage/engine/test_database.py is the tripwire.
    """

    def __init__(self, path: str, *, read_only: bool) -> None:
        self._uri = f"{Path(path).absolute().as_uri()}?mode={'ro' if read_only else 'rwc'}"
        self._read_only = read_only
        self._connection: aiosqlite.Connection | None = None
        self._checked_out: Connection | None = None  # for good: a checkout for each batch would double its cost
        self._opening = asyncio.Lock()

    async def run(self, work: Work[Result]) -> Result:
        """Run `work` in one transaction on the connection's thread."""
        async with self._opening:
            if self._connection is None:
                await self._open()
        result: Result = await self._connection._execute(self._transact, work)  # type: ignore[union-attr]  # noqa: SLF001
        return result

    async def close(self) -> None:
        """Close the connection and end its thread."""
        if self._connection is not None:
            await self._connection._execute(self._give_back)  # type: ignore[no-untyped-call]  # noqa: SLF001
            await self._connection.close()
            self._connection = None

    def _give_back(self) -> None:
        """Let SQLAlchemy close what it holds, on the thread that made it."""
        assert self._checked_out is not None  # noqa: S101 - opened in run
        self._checked_out.close()
        self._checked_out.engine.dispose()

    def _transact(self, work: Work[Result]) -> Result:
        assert self._checked_out is not None  # noqa: S101 - opened in run
        with self._checked_out.begin():
            return work(self._checked_out)

    async def _open(self) -> None:
        connection = aiosqlite.connect(self._uri, uri=True, isolation_level=None, cached_statements=512)
        try:
            await connection
            await connection._execute(self._prepare, connection._conn)  # type: ignore[no-untyped-call]  # noqa: SLF001
        except BaseException:
            await connection.close()
            await asyncio.to_thread(connection._thread.join)  # noqa: SLF001 - it would outlive the event loop
            raise
        self._connection = connection

    def _prepare(self, raw: sqlite3.Connection) -> None:
        raw.execute(f"PRAGMA busy_timeout = {BUSY_MILLISECONDS}")
        raw.execute("PRAGMA foreign_keys = ON")
        raw.execute("PRAGMA cache_size = -16384")
        if self._read_only:
            raw.execute("PRAGMA query_only = ON")
        else:
            raw.execute("PRAGMA journal_mode = WAL")
            raw.execute("PRAGMA synchronous = FULL")
        engine = create_engine("sqlite://", creator=lambda: raw, poolclass=StaticPool)
        begin = "BEGIN" if self._read_only else "BEGIN IMMEDIATE"
        event.listen(engine, "begin", lambda connection: connection.exec_driver_sql(begin))
        self._checked_out = engine.connect()  # SQLAlchemy reads its PRAGMAs here, before the authorizer forbids them
        raw.execute("SELECT 1 FROM json_each('[]')")  # declares its virtual table, likewise
        if self._read_only:
            raw.set_authorizer(_authorize_reading)


def _authorize_reading(action: int, *_: object) -> int:
    return sqlite3.SQLITE_OK if action in _READ_ONLY_ACTIONS else sqlite3.SQLITE_DENY


class PostgresLane:
    """A PostgreSQL connection over asyncpg, kept: a pool's checkout for each batch would cost three round trips."""

    def __init__(self, url: URL, **options: Any) -> None:
        self._engine = create_async_engine(url, poolclass=NullPool, **options)
        self._connection: AsyncConnection | None = None

    async def run(self, work: Work[Result]) -> Result:
        """Run `work` in one transaction, over a new connection if the server has closed the old one."""
        if self._connection is not None:
            raw = await self._connection.get_raw_connection()
            if raw.driver_connection is None or raw.driver_connection.is_closed():
                await self._connection.invalidate()
        else:
            self._connection = await self._engine.connect()
        async with self._connection.begin():
            return await self._connection.run_sync(work)

    async def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            await self._connection.close()
            self._connection = None


def writers(url: URL) -> list[Lane]:
    """Return the lanes that may write: one on SQLite, a few on PostgreSQL."""
    if is_sqlite(url):
        return [SqliteLane(str(url.database), read_only=False)]
    return [PostgresLane(url, connect_args={"server_settings": _BY_KEY}) for _ in range(WRITE_LANES)]


def readers(url: URL) -> list[Lane]:
    """Return the lanes that cannot write: SQLite `mode=ro` and `query_only`, PostgreSQL read-only transactions."""
    if is_sqlite(url):
        return [SqliteLane(str(url.database), read_only=True) for _ in range(READERS)]
    settings = {"server_settings": {"default_transaction_read_only": "on"}}
    return [PostgresLane(url, isolation_level="REPEATABLE READ", connect_args=settings) for _ in range(READERS)]


def parse_url(url: str) -> URL:
    """Return the database address, or raise ValueError naming the two kinds that are supported."""
    parsed = make_url(url)
    if parsed.drivername not in {"sqlite+aiosqlite", "postgresql+asyncpg"}:
        raise ValueError("SVC_DATABASE_URL must start with sqlite+aiosqlite:/// or postgresql+asyncpg://")
    if is_sqlite(parsed) and parsed.database in {None, "", ":memory:"}:
        raise ValueError("SVC_DATABASE_URL must name a file: an in-memory database would lose every event")
    return parsed


def is_sqlite(url: URL) -> bool:
    """Say whether the address is the embedded database."""
    return url.drivername.startswith("sqlite")


def commits_each_operation(url: URL) -> bool:
    """Say whether a batch commits after each operation in it.

    PostgreSQL's lanes run side by side: one operation to a transaction means that every transaction locks rows
    in one global order (customers, then rollups by key), so lanes wait for each other but never deadlock.
    """
    return not is_sqlite(url)


def lock_migrations(connection: Connection) -> None:
    """Let one process at a time migrate: PostgreSQL needs a lock for it, SQLite's BEGIN IMMEDIATE is one."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(7275637)"))


def lock_shared(connection: Connection, rows: Select[Any]) -> None:
    """Keep rows from changing until the transaction ends; SQLite has one writer anyway."""
    if connection.dialect.name == "postgresql":
        connection.execute(rows.with_for_update(read=True))


def inserts_in_one(connection: Connection) -> bool:
    """Say whether many rows go in fastest as one statement (a round trip costs) or as the driver's loop (SQLite)."""
    return connection.dialect.name == "postgresql"


def run_prepared(connection: Connection, sql: str, values: tuple[Any, ...]) -> Sequence[Any]:
    """Run a compiled statement and return its rows, with named columns; SQLite's own cursor costs half of a result."""
    if connection.dialect.name == "postgresql":
        result = connection.exec_driver_sql(sql, values)
        return result.fetchall() if result.returns_rows else ()
    cursor = _driver(connection).execute(sql, values)
    rows = cursor.fetchall()
    return list(map(_row_type(*(column[0] for column in cursor.description))._make, rows)) if rows else ()


def insert_rows(connection: Connection, sql: str, rows: Sequence[tuple[Any, ...]]) -> None:
    """Run a compiled INSERT of one row for each row, in SQLite's own loop."""
    _driver(connection).executemany(sql, rows)


def _driver(connection: Connection) -> sqlite3.Connection:
    driver: Any = connection.connection.driver_connection
    return driver


@cache
def _row_type(*names: str) -> Any:
    return namedtuple("Row", names)  # noqa: PYI024 - the columns of a statement are known when it runs


def insert_for(connection: Connection) -> Callable[..., Any]:
    """Return the dialect's INSERT, the one with ON CONFLICT."""
    return sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert
