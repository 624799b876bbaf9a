"""A persistent SQLite connection on a thread of its own."""

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import aiosqlite
from sqlalchemy import Connection, create_engine, event
from sqlalchemy.pool import StaticPool

from storage.engine.failures import is_outage, unavailable
from storage.engine.sqlite_file import DatabaseFile, WalRemovedError

Result = TypeVar("Result")
Work = Callable[[Connection], Result]
_READ_ONLY_ACTIONS = {
    sqlite3.SQLITE_SELECT,
    sqlite3.SQLITE_READ,
    sqlite3.SQLITE_FUNCTION,
    sqlite3.SQLITE_TRANSACTION,
    sqlite3.SQLITE_RECURSIVE,
}


class SqliteLane:
    """A SQLite connection on aiosqlite's thread; each transaction runs there in one call."""

    def __init__(self, file: DatabaseFile, *, read_only: bool, settings: Sequence[str], saving: str = "") -> None:
        self._file = file
        self._read_only = read_only
        self._settings = settings
        self._saving = saving  # the statement that moves the pages of the -wal file to the database
        # The thread, and the connection there, checked out for good: a checkout for each batch would double its cost.
        self._opened: tuple[aiosqlite.Connection, Connection] | None = None
        self._opening = asyncio.Lock()

    async def run(self, work: Work[Result]) -> Result:
        """Run `work` in one transaction on the connection's thread; after an outage, the next over a new connection."""
        try:
            async with self._opening:
                thread, connection = self._opened = self._opened or await self._open()
            # aiosqlite has no public call that runs a function on its thread; all its public calls go through this one.
            result: Result = await thread._execute(self._transact, connection, work)  # type: ignore[no-untyped-call]  # noqa: SLF001
        except Exception as error:
            if not is_outage(error, read_only=self._read_only):
                raise
            async with self._opening:
                await self.close()
            raise unavailable(error) from error
        return result

    async def is_distributed(self) -> bool:
        return False

    async def write(self, work: Work[Result], program_id: int = 0) -> Result:  # noqa: ARG002 - one file has all
        """Run `work` as `run` does: COMMIT is a call in this process, so its result cannot be lost."""
        return await self.run(work)

    async def close(self) -> None:
        opened, self._opened = self._opened, None
        if opened is not None:
            thread, connection = opened
            self._file.closing()
            try:
                await thread._execute(connection.close)  # type: ignore[no-untyped-call]  # noqa: SLF001
            finally:
                await self._end(thread)

    def _transact(self, connection: Connection, work: Work[Result]) -> Result:
        try:
            with connection.begin():
                result = work(connection)
                self._file.check()
            if not self._read_only:
                self._file.look()  # a commit may move pages
        except WalRemovedError:
            raw: Any = connection.connection.driver_connection
            raw.execute(self._saving)  # what was acknowledged
            raise
        return result

    async def _open(self) -> tuple[aiosqlite.Connection, Connection]:
        self._file.check()
        if not self._read_only:
            self._file.make_private()
        mode = "ro" if self._read_only else "rw"
        uri = f"{self._file.path.as_uri()}?mode={mode}"
        thread = aiosqlite.connect(uri, uri=True, isolation_level=None, cached_statements=512)
        self._file.opening()
        try:
            await thread
            return thread, await thread._execute(self._prepared, thread._conn)  # type: ignore[no-untyped-call]  # noqa: SLF001
        except BaseException:
            await self._end(thread)
            raise

    def _prepared(self, raw: sqlite3.Connection) -> Connection:
        for setting in self._settings:
            raw.execute(setting)
        engine = create_engine("sqlite://", creator=lambda: raw, poolclass=StaticPool, hide_parameters=True)
        begin = "BEGIN" if self._read_only else "BEGIN IMMEDIATE"
        event.listen(engine, "begin", lambda connection: connection.exec_driver_sql(begin))
        connection = engine.connect()  # SQLAlchemy asks for its settings, which the authorizer forbids later
        raw.execute("SELECT 1 FROM json_each('[]')")  # declares its virtual table, likewise
        if self._read_only:
            denied = sqlite3.SQLITE_DENY
            raw.set_authorizer(lambda action, *_: sqlite3.SQLITE_OK if action in _READ_ONLY_ACTIONS else denied)
        self._file.opened()
        return connection

    async def _end(self, thread: aiosqlite.Connection) -> None:
        """Close a connection and wait for its thread, which would otherwise outlive the event loop."""
        await thread.close()
        await asyncio.to_thread(thread._thread.join)  # noqa: SLF001
        self._file.closed()
