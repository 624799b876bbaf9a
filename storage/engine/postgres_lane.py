"""A persistent PostgreSQL connection with short time limits, which looks up the outcome of a lost COMMIT."""

import asyncio
import logging
import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

import asyncpg
from sqlalchemy import Connection, event
from sqlalchemy.engine import URL
from sqlalchemy.ext.asyncio import AsyncConnection, create_async_engine
from sqlalchemy.pool import NullPool

from storage.engine import citus
from storage.engine.failures import LOCKED, READ_ONLY, RETRY_SECONDS, chain, is_outage, is_reported, unavailable
from storage.rules.errors import OutcomeUnknown, StorageUnavailable

Result = TypeVar("Result")
Work = Callable[[Connection], Result]
log = logging.getLogger(__name__)
CONNECT_SECONDS = 3
LOCK_SECONDS = 2  # the server lets a statement wait so long for a lock, so that a locked table does not hold up others
STATEMENT_SECONDS = 4  # the server ends a statement then
RESPONSE_SECONDS = 5  # the lane ends the connection then
RUN_SECONDS = 8
RESOLVE_SECONDS = 4
PAUSE_SECONDS = 0.1
INTERNAL_ERROR = "XX000"  # the code with which Citus reports a COMMIT that a node did not confirm
CLOSE_SECONDS = 1
TRIES = 3  # of a batch that is known not to be stored after its COMMIT was lost
_READ_ONLY = {"default_transaction_read_only": "on", "default_transaction_isolation": "repeatable read"}


class _CommitUnconfirmedError(Exception):
    """COMMIT was sent, and the connection was lost before the response."""

    def __init__(self, result: Any) -> None:
        super().__init__("COMMIT got no response")
        self.result = result


class PostgresLane:
    """One connection, as checkouts cost three round trips; `patient` ones, for commands, have no time limits."""

    def __init__(self, url: URL, *, read_only: bool, patient: bool) -> None:
        # how long the server lets a statement run, and a transaction wait for us
        limits = {"lock_timeout": LOCK_SECONDS, "statement_timeout": STATEMENT_SECONDS}
        limits["idle_in_transaction_session_timeout"] = RUN_SECONDS
        limited = {name: str(int(seconds * 1_000)) for name, seconds in limits.items()}
        settings = (_READ_ONLY if read_only else citus.BY_KEY) | ({} if patient else limited)
        options = {} if patient else {"command_timeout": RESPONSE_SECONDS}
        self._engine = create_async_engine(
            url,
            poolclass=NullPool,
            hide_parameters=True,  # values do not belong in the log
            isolation_level="AUTOCOMMIT",  # the lane begins and ends transactions itself
            connect_args={"timeout": CONNECT_SECONDS, "server_settings": settings, **options},
        )
        self._read_only = read_only
        self._seconds = None if patient else RUN_SECONDS
        self._name = secrets.token_hex(16)
        self._connection: AsyncConnection | None = None
        self._driver: Any = None  # its asyncpg connection
        self._prepared: Any = None  # the one that has prepared to store tokens
        self._is_distributed: bool | None = None  # None: not connected yet

    async def run(self, work: Work[Result]) -> Result:
        """Run `work` in one transaction, over a new connection if the old one was closed."""
        try:
            return await self._transact(work)
        except _CommitUnconfirmedError as unanswered:
            if not self._read_only:
                raise OutcomeUnknown(retry_after_seconds=RETRY_SECONDS) from unanswered
            result: Result = unanswered.result
            return result

    async def is_distributed(self) -> bool:
        if self._is_distributed is None:
            with suppress(Exception):  # then the batch fails, too
                await self._connect()
        return bool(self._is_distributed)

    async def write(self, work: Work[Result], program_id: int = 0) -> Result:
        """Run `work` in a transaction that stores a token; if COMMIT gets no response, the token shows the outcome.

        A transaction that was not stored runs again. Raises OutcomeUnknown if that cannot be known in time, or if
        rows of a distributed database may be stored without the token, which lies beside the rows of `program_id`.
        """
        for _ in range(TRIES):
            token = secrets.token_hex(16)
            try:
                return await self._transact(work, token, program_id)
            except _CommitUnconfirmedError as error:
                unanswered = error
            if await self._has_committed(token, program_id):
                result: Result = unanswered.result
                return result
            if self._is_distributed and not program_id:
                raise OutcomeUnknown(retry_after_seconds=RETRY_SECONDS) from unanswered
        raise unavailable(unanswered)

    async def close(self) -> None:
        """Close the connection; the server gets a second to agree."""
        if self._driver is not None:
            with suppress(OSError, asyncpg.PostgresError, asyncpg.InterfaceError):
                await self._driver.close(timeout=CLOSE_SECONDS)
        await self._drop()

    async def _transact(self, work: Work[Result], token: str | None = None, program_id: int = 0) -> Result:
        """Run `work` in a transaction; again if a migration has changed a column's type since it was prepared."""
        try:
            return await self._run_once(work, token, program_id)
        except Exception as error:
            if not any(isinstance(each, asyncpg.InvalidCachedStatementError) for each in chain(error)):
                raise
        return await self._run_once(work, token, program_id)

    async def _run_once(self, work: Work[Result], token: str | None, program_id: int) -> Result:
        finished: list[Result] = []
        try:
            async with asyncio.timeout(self._seconds):
                connection = await self._begin(token, program_id)
                finished.append(await connection.run_sync(_within, work))
                _require_commit(await self._driver.execute("COMMIT"))
        except Exception as error:
            unconfirmed = bool(finished and self._is_distributed and is_reported(error, INTERNAL_ERROR))
            is_lost = self._is_closed() or isinstance(error, StorageUnavailable)
            if not (unconfirmed or is_lost or is_outage(error, read_only=self._read_only)):
                await self._roll_back()
                raise
            is_partial = self._is_partial(error)
            is_kept = is_partial and not is_reported(error, READ_ONLY)  # a session stays as read-only as it began
            await (self._roll_back() if is_kept else self._drop())
            if finished:
                raise _CommitUnconfirmedError(finished[0]) from error
            if isinstance(error, StorageUnavailable):
                raise
            raise unavailable(error, is_partial=is_partial) from error
        except BaseException:
            await self._drop()
            raise
        return finished[0]

    async def _connect(self) -> AsyncConnection:
        if self._connection is None or self._is_closed():
            await self._drop()
            async with asyncio.timeout(self._seconds and CONNECT_SECONDS):
                self._connection = await self._engine.connect()
                self._driver = (await self._connection.get_raw_connection()).driver_connection
                self._is_distributed = await citus.are_used(self._driver, patient=self._seconds is None)
            if self._is_distributed:
                await self._connection.execution_options(**{citus.DISTRIBUTED: True})
                event.listen(self._connection.sync_connection, "before_cursor_execute", citus.name_program, retval=True)
        return self._connection

    async def _begin(self, token: str | None = None, program_id: int = 0) -> AsyncConnection:
        """Begin a transaction; any failure means that the database is not available."""
        try:
            connection = await self._connect()
            store_token = "" if token is None else f"; EXECUTE {await self._prepare(token, program_id)}"
            await self._driver.execute(f"BEGIN{store_token}")
        except Exception as error:
            raise unavailable(error, is_partial=self._is_partial(error)) from error
        return connection

    async def _prepare(self, token: str, program_id: int) -> str:
        if self._prepared is not self._driver:
            names = ("store_token", "store_program_token") if self._is_distributed else ("store_token",)
            await self._driver.execute("; ".join(citus.SQL[name] for name in names))
            self._prepared = self._driver
        values = f"'{self._name}', '{token}', {time.time_ns() // 1_000_000}"
        is_of_program = self._is_distributed and program_id
        return f"store_program_token({program_id}, {values})" if is_of_program else f"store_token({values})"

    def _is_closed(self) -> bool:
        return self._driver is None or self._driver.is_closed()

    def _is_partial(self, error: Exception) -> bool:
        """Return whether the rest of the database works: the server itself reports that a node or a lock is missing."""
        return not self._is_closed() and (
            is_reported(error, LOCKED) or bool(self._is_distributed and is_reported(error))
        )

    async def _roll_back(self) -> None:
        try:
            await self._driver.execute("ROLLBACK")
        except Exception:  # noqa: BLE001 - the error that led here is the one to raise
            await self._drop()

    async def _drop(self) -> None:
        """Close the connection without telling the server, which may not respond."""
        connection, self._connection = self._connection, None
        driver, self._driver = self._driver, None
        if driver is not None:
            driver.terminate()
        if connection is not None:
            await connection.invalidate()
            await connection.close()

    async def _has_committed(self, token: str, program_id: int) -> bool:
        """Return whether the transaction with this token committed, after it ended. Raises OutcomeUnknown."""
        try:
            async with asyncio.timeout(RESOLVE_SECONDS):
                while True:
                    try:
                        await self._begin()
                        of_program = (program_id,) if self._is_distributed and program_id else ()
                        find = citus.SQL["find_program_token" if of_program else "find_token"]
                        stored = await self._driver.fetchval(find, *of_program, self._name)
                        await self._driver.execute("ROLLBACK")
                    except Exception as error:  # noqa: BLE001 - until the time is over
                        log.debug("asking for a token failed: %s", error)
                        await self._drop()
                        await asyncio.sleep(PAUSE_SECONDS)
                    else:
                        return bool(stored == token)
        except BaseException as error:
            await self._drop()
            if isinstance(error, TimeoutError):
                raise OutcomeUnknown(retry_after_seconds=RETRY_SECONDS) from error
            raise


def _require_commit(status: str) -> None:
    """Raise if the server responded to COMMIT with ROLLBACK."""
    if status != "COMMIT":
        raise RuntimeError("an operation went on after an error of the database: nothing was committed")


def _within(connection: Connection, work: Work[Result]) -> Result:
    """Run `work` in what SQLAlchemy takes for a transaction: with AUTOCOMMIT nothing is sent for it."""
    with connection.begin():
        return work(connection)
