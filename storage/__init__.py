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
from storage.tracking.principals import Call, Outcome, PresentedKey, Principal, staged
from storage.tracking.rejection_log import CallDetails

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")
MOST_REMEMBERED = 10_000
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
        self._programs: dict[str, int] = {}  # of keys that do not name theirs: it chooses a lane, and proves nothing

    @property
    def reader(self) -> Reader:
        """These reads alone, over the same connections: for whoever must not be able to write."""
        return Reader(self._lanes)

    async def write(self, operation: Callable[..., Any], *arguments: Any, lane: Hashable = 0, **options: Any) -> Any:
        """Run a write operation and return its result after the commit that holds its rows.

        `lane` is the program whose writes share a queue. Raises the operation's ServiceError, with nothing stored;
        Overloaded when too many writes wait.
        """
        return await self._writers[hash(lane) % len(self._writers)].write(operation, *arguments, **options)

    async def handle(
        self, operation: Callable[..., Any], item: Any, *, principal: Principal, details: CallDetails
    ) -> Outcome:
        """Run a tracking operation for whoever calls, and return its outcome after the commit that holds its rows.

        The writer resolves the principals of a batch and gives the operation their programs. An error is in the
        outcome, and in the log of rejected calls if the call presented a key. Raises Overloaded.
        """
        lane = self._lane(principal)
        outcome: Outcome = await self.write(staged(operation), Call(principal, item, details), lane=lane)
        if isinstance(principal, PresentedKey) and outcome.key is not None and principal.program_id is None:
            if len(self._programs) >= MOST_REMEMBERED:
                self._programs.clear()
            self._programs[principal.key_hash] = outcome.key.program_id
        return outcome

    def _lane(self, principal: Principal) -> int:
        if isinstance(principal, PresentedKey) and principal.program_id is None:
            return self._programs.get(principal.key_hash, 0)
        return principal.program_id or 0


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
