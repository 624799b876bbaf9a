"""The queue of reads, limited like the queue of writes, and the replica, which may lag: by how much, probes tell."""

import asyncio
import secrets
import time
from collections.abc import Sequence
from datetime import datetime
from typing import TypeVar

from sqlalchemy import Connection, func, select

from storage.engine.database import insert_for
from storage.engine.failures import Availability, is_conflict, unavailable
from storage.engine.lane import Lane, Work
from storage.rules.errors import NotFound, Overloaded, StorageUnavailable
from storage.tables import committed_batches

Result = TypeVar("Result")
MOST_WAITING = 1_000
LONGEST_WAIT_SECONDS = 5.0
MOST_LAG_SECONDS = 60.0  # a replica that lags further is not read
UNANSWERED = (StorageUnavailable, Overloaded, NotFound)  # by a replica: a new row may not be there yet
PAUSE_SECONDS = 5.0  # without a read after it failed
_PROBE = secrets.token_hex(16)  # the row of this process's probes


class ReadQueue:
    """Hands each read a connection of its own, in the order in which they came."""

    def __init__(self, lanes: Sequence[Lane], availability: Availability) -> None:
        self.availability = availability
        self._idle: asyncio.LifoQueue[Lane] = asyncio.LifoQueue()
        self.waiting = 0  # reads without a connection
        for lane in lanes:
            self._idle.put_nowait(lane)

    async def run(self, work: Work[Result]) -> Result:
        """Run `work` on an idle connection, over a snapshot; raises what it raises, Overloaded, StorageUnavailable."""
        lane = await self._wait() if self.waiting or self._idle.empty() else self._idle.get_nowait()
        try:
            with self.availability.observed():
                return await lane.run(work)
        finally:
            self._idle.put_nowait(lane)

    async def _wait(self) -> Lane:
        if self.waiting >= MOST_WAITING:
            raise Overloaded(retry_after_seconds=1)
        self.waiting += 1
        try:
            async with asyncio.timeout(LONGEST_WAIT_SECONDS):
                return await self._idle.get()
        except TimeoutError:
            raise Overloaded(retry_after_seconds=1) from None
        finally:
            self.waiting -= 1


def probe(connection: Connection, *, at: datetime) -> None:
    """Store a row; the lane raises StorageUnavailable while storing does not work."""
    stored = insert_for(connection)(committed_batches).values(lane=_PROBE, token="", at=at)
    connection.execute(stored.on_conflict_do_update(index_elements=["lane"], set_={"at": stored.excluded.at}))


def newest(connection: Connection) -> datetime | None:
    """Return the time of the newest batch or probe: on a replica, how far it has come."""
    at: datetime | None = connection.execute(select(func.max(committed_batches.c.at))).scalar_one()
    return at


class Replica(ReadQueue):
    """The queue of a replica's reads, and whether it responds and is near the primary."""

    def __init__(self, lanes: Sequence[Lane]) -> None:
        super().__init__(lanes, Availability("reading from the replica"))
        self._retry_at = time.monotonic()
        self.lag_seconds: float | None = None  # None: not measured yet

    @property
    def is_near(self) -> bool:
        """Whether it may be read: it does not lag too far, and has not just failed."""
        lags_little = self.lag_seconds is not None and self.lag_seconds <= MOST_LAG_SECONDS
        return lags_little and time.monotonic() >= self._retry_at

    async def run(self, work: Work[Result]) -> Result:
        """Run `work` over one snapshot, as on the primary; after a failure it is not near for a while."""
        try:
            return await super().run(work)
        except StorageUnavailable:
            self._retry_at = time.monotonic() + PAUSE_SECONDS
            raise
        except Exception as error:
            if is_conflict(error):  # the replica had to cancel the read, to apply what the primary had written
                raise unavailable(error) from error
            raise

    async def measure(self, *, at: datetime) -> None:
        """Compare the newest time that the replica has with `at`, which the primary has just stored."""
        try:
            newest_at = await self.run(newest)
        except StorageUnavailable:
            self.lag_seconds = None
            raise
        self.lag_seconds = max(0.0, (at - newest_at).total_seconds()) if newest_at else None
