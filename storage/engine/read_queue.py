"""The queue of reads, limited in length and waiting time like the queue of writes; it says whether reading works."""

import asyncio
from collections.abc import Sequence
from typing import TypeVar

from storage.engine.failures import Availability
from storage.engine.lane import Lane, Work
from storage.rules.errors import Overloaded

Result = TypeVar("Result")
MOST_WAITING = 1_000
LONGEST_WAIT_SECONDS = 5.0


class ReadQueue:
    """Hands each read a connection of its own, in the order in which they came."""

    def __init__(self, lanes: Sequence[Lane], availability: Availability) -> None:
        self.availability = availability
        self._idle: asyncio.LifoQueue[Lane] = asyncio.LifoQueue()
        self._waiting = 0
        for lane in lanes:
            self._idle.put_nowait(lane)

    @property
    def waiting(self) -> int:
        """How many reads wait for a connection."""
        return self._waiting

    async def run(self, work: Work[Result]) -> Result:
        """Run `work` on an idle connection, over one snapshot; raises what it raises.

        Raises Overloaded when too many reads wait, or this one waited too long; StorageUnavailable in an outage.
        """
        lane = await self._wait() if self._waiting or self._idle.empty() else self._idle.get_nowait()
        try:
            with self.availability.observed():
                return await lane.run(work)
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
