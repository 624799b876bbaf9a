"""A persistent SQLite connection on a thread of its own, and its file: private, checked, and locked while served."""

import asyncio
import os
import sqlite3
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

import aiosqlite
from sqlalchemy import Connection, create_engine, event
from sqlalchemy.pool import StaticPool

from storage.engine.failures import is_outage, unavailable
from storage.engine.lane import Work

if sys.platform != "win32":
    import fcntl

Result = TypeVar("Result")
PRIVATE = 0o600
_READ_ONLY_ACTIONS = {
    sqlite3.SQLITE_SELECT,
    sqlite3.SQLITE_READ,
    sqlite3.SQLITE_FUNCTION,
    sqlite3.SQLITE_TRANSACTION,
    sqlite3.SQLITE_RECURSIVE,
}


class DatabaseFileReplacedError(OSError):
    """The database file was removed or replaced after the service opened it."""


class DatabaseFile:
    """A path, and the file that was there when the service opened it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._opened = self._identity()

    @property
    def exists(self) -> bool:
        """Whether the file existed before opening; only otherwise may a new one be created."""
        return self._opened is not None

    def make_private(self) -> None:
        """Create the file if it never existed, and let its owner alone read it; SQLite gives -wal and -shm its mode."""
        if not self.exists:
            with suppress(OSError):  # SQLite then names the problem
                os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDONLY, PRIVATE))
        for ending in ("", "-wal", "-shm"):
            with suppress(OSError):  # another account's file stays as that account has it
                self.path.with_name(self.path.name + ending).chmod(PRIVATE)

    def created(self) -> None:
        """Remember the file that was created on opening."""
        self._opened = self._opened or self._identity()

    def check(self) -> None:
        """Raise DatabaseFileReplacedError unless the path still names the opened file."""
        if self.exists and self._identity() != self._opened:
            raise DatabaseFileReplacedError(
                f"{self.path} was removed or replaced. Stop the service, put the file back or run "
                "`svc admin restore FILE`, and start the service."
            )

    def _identity(self) -> tuple[int, int] | None:
        try:
            status = self.path.stat()
        except FileNotFoundError:
            return None
        return status.st_dev, status.st_ino


class SqliteLane:
    """A SQLite connection on aiosqlite's thread; each transaction runs there in one call.

    aiosqlite has no public call that runs a function on its thread, so this uses `Connection._execute`, which all
    its public calls go through; every test fails if that changes.
    """

    def __init__(self, file: DatabaseFile, *, read_only: bool, settings: Sequence[str]) -> None:
        self._file = file
        self._read_only = read_only
        self._settings = settings
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
        for setting in self._settings:
            raw.execute(setting)
        self._file.created()
        engine = create_engine("sqlite://", creator=lambda: raw, poolclass=StaticPool, hide_parameters=True)
        begin = "BEGIN" if self._read_only else "BEGIN IMMEDIATE"
        event.listen(engine, "begin", lambda connection: connection.exec_driver_sql(begin))
        self._checked_out = engine.connect()  # SQLAlchemy asks for its settings, which the authorizer forbids later
        raw.execute("SELECT 1 FROM json_each('[]')")  # declares its virtual table, likewise
        if self._read_only:
            raw.set_authorizer(_authorize_reading)


async def _end(connection: aiosqlite.Connection) -> None:
    """Close a connection and wait for its thread, which would otherwise outlive the event loop."""
    await connection.close()
    await asyncio.to_thread(connection._thread.join)  # noqa: SLF001


def _authorize_reading(action: int, *_: object) -> int:
    return sqlite3.SQLITE_OK if action in _READ_ONLY_ACTIONS else sqlite3.SQLITE_DENY


@contextmanager
def hold_lock(database: Path, *, alone: bool) -> Iterator[bool]:
    """Hold the lock beside the file, exclusively (restore) or shared (services); yield whether that succeeded."""
    path = database.with_name(f"{database.name}.lock")
    path.touch(0o600)  # who can open the file can hold the lock, and keep the service from starting
    with path.open("ab") as file:
        held = True
        if sys.platform != "win32":  # Windows does not rename a file that is open
            try:
                fcntl.flock(file, (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | fcntl.LOCK_NB)
            except BlockingIOError:
                held = False
        yield held
