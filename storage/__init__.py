"""What the service knows and keeps. Open it here: `async with storage.opened(url) as store`."""

import asyncio
from collections.abc import AsyncIterator, Callable, Hashable
from contextlib import asynccontextmanager
from typing import Any, Concatenate, ParamSpec, TypeVar

from sqlalchemy import Connection

from storage.engine import database
from storage.engine.group_commit import GroupCommit
from storage.engine.own_thread import OwnThread
from storage.engine.read_queue import ReadQueue

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")
DEFAULT_URL = "sqlite+aiosqlite:///svc.db"  # a file in the working directory


class Reader:
    """Runs read operations on connections that cannot write. The MCP server is handed this alone."""

    def __init__(self, lanes: ReadQueue) -> None:
        self._lanes = lanes

    async def read(
        self,
        operation: Callable[Concatenate[Connection, Parameters], Result],
        *arguments: Parameters.args,
        **options: Parameters.kwargs,
    ) -> Result:
        """Run `operation(connection, ...)` over one consistent snapshot, on a thread; raises what it raises.

        Raises Overloaded when too many reads wait, or this one has waited too long.
        """
        async with self._lanes.lane() as lane:
            return await lane.run(lambda connection: operation(connection, *arguments, **options))


class Storage(Reader):
    """Reads, and writes through group commit."""

    def __init__(self, readers: ReadQueue, writers: list[GroupCommit]) -> None:
        super().__init__(readers)
        self._writers = writers

    @property
    def reader(self) -> Reader:
        """These reads alone, over the same connections: for whoever must not be able to write."""
        return Reader(self._lanes)

    async def write(self, operation: Callable[..., Any], *arguments: Any, lane: Hashable = 0, **options: Any) -> Any:
        """Run a write operation and return its result after the commit that holds its rows.

        `lane` keeps related writes (one program's, one key's) in one queue. Raises the operation's Refusal, with
        nothing stored; Overloaded when too many writes wait.
        """
        writer = self._writers[hash(lane) % len(self._writers)]
        return await writer.write(operation, *arguments, **options)


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[Storage]:
    """Open the database at `url` (migrated already) for as long as the context lasts; closing drains the writers."""
    address = database.parse_url(url)
    writing = database.writers(address)
    reading = [lane if database.is_sqlite(address) else OwnThread(lane) for lane in database.readers(address)]
    each = database.commits_each_operation(address)
    writers = [GroupCommit(lane, commits_each_operation=each) for lane in writing]
    try:
        yield Storage(ReadQueue(reading), writers)
    finally:
        await asyncio.gather(*(writer.close() for writer in writers))
        await asyncio.gather(*(lane.close() for lane in (*writing, *reading)))
