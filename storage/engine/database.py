"""Engines and connections for SQLite and PostgreSQL: the only file that knows a dialect."""

import asyncio
import sqlite3
from collections import namedtuple
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import aiosqlite
from sqlalchemy import Connection, Select, create_engine, event, text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import URL, make_url
from sqlalchemy.pool import StaticPool

from storage.engine.database_file import DatabaseFile
from storage.engine.failures import is_outage, unavailable
from storage.engine.lane import Lane, Work, WriteLane
from storage.engine.postgres_lane import PostgresLane

Result = TypeVar("Result")
WRITE_LANES = READERS = 4
BUSY_MILLISECONDS = 4_000
PATIENT_MILLISECONDS = 60_000
_READ_ONLY_ACTIONS = {
    sqlite3.SQLITE_SELECT,
    sqlite3.SQLITE_READ,
    sqlite3.SQLITE_FUNCTION,
    sqlite3.SQLITE_TRANSACTION,
    sqlite3.SQLITE_RECURSIVE,
}


class SqliteLane:
    """A SQLite connection on aiosqlite's thread; each transaction runs there in one call.

    aiosqlite has no public call that runs a function on its thread, so this uses `Connection._execute`, which all
    its public calls go through; every test fails if that changes.
    """

    def __init__(self, file: DatabaseFile, *, read_only: bool, patient: bool) -> None:
        self._file = file
        self._read_only = read_only
        self._busy_milliseconds = PATIENT_MILLISECONDS if patient else BUSY_MILLISECONDS
        self._connection: aiosqlite.Connection | None = None
        self._checked_out: Connection | None = None  # for good: a checkout for each batch would double its cost
        self._opening = asyncio.Lock()

    async def run(self, work: Work[Result]) -> Result:
        """Run `work` in one transaction on the connection's thread; after an outage, the next over a new connection."""
        try:
            async with self._opening:
                if self._connection is None:
                    await self._open()
            result: Result = await self._connection._execute(self._transact, work)  # type: ignore[union-attr]  # noqa: SLF001
        except Exception as error:
            if not is_outage(error, read_only=self._read_only):
                raise
            async with self._opening:
                await self.close()
            raise unavailable(error) from error
        return result

    async def is_distributed(self) -> bool:
        """Return False: it is one file."""
        return False

    async def write(self, work: Work[Result], program_id: int = 0) -> Result:  # noqa: ARG002 - one file has all
        """Run `work` as `run` does: COMMIT is a call in this process, so its result cannot be lost."""
        return await self.run(work)

    async def close(self) -> None:
        """Close the connection and end its thread."""
        connection, self._connection = self._connection, None
        if connection is not None:
            try:
                await connection._execute(self._give_back)  # type: ignore[no-untyped-call]  # noqa: SLF001
            finally:
                await _end(connection)

    def _give_back(self) -> None:
        """Let SQLAlchemy close its connection on the thread that created it."""
        assert self._checked_out is not None  # noqa: S101 - opened in run
        self._checked_out.close()
        self._checked_out.engine.dispose()

    def _transact(self, work: Work[Result]) -> Result:
        assert self._checked_out is not None  # noqa: S101 - opened in run
        with self._checked_out.begin():
            result = work(self._checked_out)
            self._file.check()
            return result

    async def _open(self) -> None:
        self._file.check()
        if not self._read_only:
            self._file.make_private()
        mode = "ro" if self._read_only else "rw"
        uri = f"{self._file.path.as_uri()}?mode={mode}"
        connection = aiosqlite.connect(uri, uri=True, isolation_level=None, cached_statements=512)
        try:
            await connection
            await connection._execute(self._prepare, connection._conn)  # type: ignore[no-untyped-call]  # noqa: SLF001
        except BaseException:
            await _end(connection)
            raise
        self._connection = connection

    def _prepare(self, raw: sqlite3.Connection) -> None:
        raw.execute(f"PRAGMA busy_timeout = {self._busy_milliseconds}")
        raw.execute("PRAGMA foreign_keys = ON")
        raw.execute("PRAGMA cache_size = -16384")
        if self._read_only:
            raw.execute("PRAGMA query_only = ON")
        else:
            raw.execute("PRAGMA journal_mode = WAL")
            raw.execute("PRAGMA synchronous = FULL")
        self._file.created()
        engine = create_engine("sqlite://", creator=lambda: raw, poolclass=StaticPool, hide_parameters=True)
        begin = "BEGIN" if self._read_only else "BEGIN IMMEDIATE"
        event.listen(engine, "begin", lambda connection: connection.exec_driver_sql(begin))
        self._checked_out = engine.connect()  # SQLAlchemy reads its PRAGMAs here, before the authorizer forbids them
        raw.execute("SELECT 1 FROM json_each('[]')")  # declares its virtual table, likewise
        if self._read_only:
            raw.set_authorizer(_authorize_reading)


async def _end(connection: aiosqlite.Connection) -> None:
    """Close a connection and wait for its thread, which would otherwise outlive the event loop."""
    await connection.close()
    await asyncio.to_thread(connection._thread.join)  # noqa: SLF001


def _authorize_reading(action: int, *_: object) -> int:
    return sqlite3.SQLITE_OK if action in _READ_ONLY_ACTIONS else sqlite3.SQLITE_DENY


def writers(url: URL, *, patient: bool = False) -> list[WriteLane]:
    """Return the lanes that may write: one on SQLite, a few on PostgreSQL; `patient` ones have no time limits."""
    if is_sqlite(url):
        return [SqliteLane(DatabaseFile(file_of(url)), read_only=False, patient=patient)]
    return [PostgresLane(url, read_only=False, patient=patient) for _ in range(WRITE_LANES)]


def readers(url: URL, *, patient: bool = False) -> list[Lane]:
    """Return the lanes that cannot write: SQLite `mode=ro` and `query_only`, PostgreSQL read-only transactions."""
    if is_sqlite(url):
        file = DatabaseFile(file_of(url))
        return [SqliteLane(file, read_only=True, patient=patient) for _ in range(READERS)]
    return [PostgresLane(url, read_only=True, patient=patient) for _ in range(READERS)]


def parse_url(url: str) -> URL:
    """Return the parsed database URL, or raise ValueError naming the two supported kinds."""
    parsed = make_url(url)
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


def commits_each_operation(url: URL) -> bool:
    """Return whether a batch commits after each operation in it.

    PostgreSQL's lanes run side by side: one operation to a transaction means that every transaction locks rows
    in one global order (customers, then rollups by key), so lanes wait for each other but never deadlock.
    """
    return not is_sqlite(url)


def lock_migrations(connection: Connection) -> None:
    """Let one process at a time migrate: PostgreSQL needs a lock for it, SQLite's BEGIN IMMEDIATE is one."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(7275637)"))


def lock_set_up(connection: Connection) -> None:
    """Let one transaction at a time set the service up, until it ends; SQLite has one writer."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(7275638)"))


def has_partitions(connection: Connection) -> bool:
    """Return whether clicks are partitioned by month, as they are on PostgreSQL."""
    return connection.dialect.name == "postgresql"


def lock_shared(connection: Connection, rows: Select[Any]) -> None:
    """Lock rows against changes until the transaction ends; SQLite needs no lock, as it has one writer."""
    if connection.dialect.name == "postgresql":
        connection.execute(rows.with_for_update(read=True))


def inserts_in_one(connection: Connection) -> bool:
    """Return whether many rows go in fastest as one statement (a round trip costs) or as the driver's loop (SQLite)."""
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
