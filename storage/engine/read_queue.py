"""The queue of reads, limited in length and waiting time like the queue of writes."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from storage.engine.lane import Lane
from storage.rules.errors import Overloaded

MOST_WAITING = 1_000
LONGEST_WAIT_SECONDS = 5.0


class ReadQueue:
    """Hands each read a connection of its own, in the order in which they came."""

    def __init__(self, lanes: Sequence[Lane]) -> None:
        self._idle: asyncio.LifoQueue[Lane] = asyncio.LifoQueue()
        self._waiting = 0
        for lane in lanes:
            self._idle.put_nowait(lane)

    @property
    def waiting(self) -> int:
        """How many reads wait for a connection."""
        return self._waiting

    @asynccontextmanager
    async def lane(self) -> AsyncIterator[Lane]:
        """Yield an idle connection. Raises Overloaded when too many reads wait, or this one waited too long."""
        lane = await self._wait() if self._waiting or self._idle.empty() else self._idle.get_nowait()
        try:
            yield lane
        finally:
            self._idle.put_nowait(lane)

    async def _wait(self) -> Lane:
        if self._waiting >= MOST_WAITING:
            raise Overloaded(retry_after_seconds=1)
        self._waiting += 1
        try:
            async with asyncio.timeout(LONGEST_WAIT_SECONDS):
                return await self._idle.get()
        except TimeoutError:
            raise Overloaded(retry_after_seconds=1) from None
        finally:
            self._waiting -= 1
