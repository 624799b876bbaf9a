"""The queue of writes: it fills batches, and gives each to a lane that commits it."""

import asyncio
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from typing import Any

from storage.engine.group_commit import BatchMeasures, GroupCommit, QueuedWrite, resolve
from storage.rules.errors import Overloaded

MOST_WAITING = 10_000
LONGEST_WAIT_SECONDS = 5.0
LARGEST_BATCH = 256
SLOW_SECONDS = 0.05
CLOSE_SECONDS = 4.0


class WriteQueue:
    """The writes of this process, and the task that gives them to lanes, batch by batch.

    One batch runs at a time, so that batches are large however many programs there are. Another lane runs one beside it
    when it is slow, when a whole batch waits, and on a distributed database, where each batch writes one program.
    No program is in two running batches: the second would wait for the rows of the first.
    """

    def __init__(self, lanes: Sequence[GroupCommit], measures: BatchMeasures) -> None:
        self.lanes = lanes
        self.measures = measures
        self._idle = list(lanes)
        self._waiting: deque[QueuedWrite] = deque()
        self._held: set[Hashable] = set()  # the programs of the running batches
        self._started_at: dict[GroupCommit, float] = {}  # of the running batches, by lane
        self._one_program = False  # in each batch
        self._woken = asyncio.Event()
        self._closing = False
        self._loop = asyncio.get_running_loop()
        self._expiry = self._loop.call_later(LONGEST_WAIT_SECONDS, self._expire)
        self._task = asyncio.create_task(self._run())

    def write(
        self, operation: Callable[..., Any], *arguments: Any, lane: Hashable = 0, **options: Any
    ) -> asyncio.Future[Any]:
        """Queue a write; the future resolves after the commit. Raises Overloaded when the queue is full."""
        if len(self._waiting) >= MOST_WAITING or self._closing:
            raise Overloaded(retry_after_seconds=1)
        result = self._loop.create_future()
        self._waiting.append(QueuedWrite(operation, arguments, options, result, self._loop.time(), lane))
        if lane not in self._held and self._may_start():
            self._woken.set()
        return result

    @property
    def waiting(self) -> int:
        """How many writes wait for a batch."""
        return len(self._waiting)

    async def close(self) -> None:
        """Commit all that is queued, then end; wait at most a few seconds for an unresponsive database."""
        self._closing = True
        self._woken.set()
        await asyncio.wait([self._task], timeout=CLOSE_SECONDS)
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task
        self._expiry.cancel()
        for write in self._waiting:
            resolve(write, Overloaded(retry_after_seconds=1))

    async def _run(self) -> None:
        async with asyncio.TaskGroup() as batches:
            while self._waiting or not self._closing:
                await self._woken.wait()
                self._woken.clear()
                while self._waiting and self._may_start():
                    lane = self._idle.pop()
                    self._one_program = await lane.partitions_by_program()
                    await self._gather()
                    batch = self._next_batch()
                    if not batch:
                        self._idle.append(lane)
                        break
                    programs = {write.program for write in batch}
                    self._held |= programs
                    self._started_at[lane] = self._loop.time()
                    batches.create_task(self._commit(lane, batch, programs))

    def _may_start(self) -> bool:
        """Return whether a lane may take a batch now, if any write may be in it."""
        if not self._started_at:
            return True
        is_slow = self._loop.time() - max(self._started_at.values()) >= SLOW_SECONDS
        return bool(self._idle) and (is_slow or len(self._waiting) >= LARGEST_BATCH or self._one_program)

    async def _gather(self) -> None:
        """Let requests that are being parsed join the batch, for fewer commits; do not wait if there are none."""
        seen = 0
        while seen < len(self._waiting) < LARGEST_BATCH:
            seen = len(self._waiting)
            await asyncio.sleep(0)

    def _next_batch(self) -> list[QueuedWrite]:
        """Take the next writes, except those whose callers left or waited too long; programs in a batch stay."""
        self._reject_late()
        batch: list[QueuedWrite] = []
        left: list[QueuedWrite] = []
        while self._waiting and len(batch) < LARGEST_BATCH:
            write = self._waiting.popleft()
            if write.program in self._held or (self._one_program and batch and write.program != batch[0].program):
                left.append(write)
            elif not write.result.done():
                batch.append(write)
        self._waiting.extendleft(reversed(left))
        return batch

    async def _commit(self, lane: GroupCommit, batch: list[QueuedWrite], programs: set[Hashable]) -> None:
        slow = self._loop.call_later(SLOW_SECONDS, self._woken.set)
        try:
            await lane.commit(batch)
        finally:
            slow.cancel()
            self._held -= programs
            del self._started_at[lane]
            self._idle.append(lane)
            self._woken.set()

    def _reject_late(self) -> None:
        oldest = self._loop.time() - LONGEST_WAIT_SECONDS
        while self._waiting and self._waiting[0].queued_at <= oldest:
            resolve(self._waiting.popleft(), Overloaded(retry_after_seconds=1))

    def _expire(self) -> None:
        """Reject late writes while no batch takes them, and schedule the next check."""
        self._reject_late()
        next_at = self._waiting[0].queued_at if self._waiting else self._loop.time()
        self._expiry = self._loop.call_at(next_at + LONGEST_WAIT_SECONDS, self._expire)
