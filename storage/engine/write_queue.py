"""The queue of writes: it fills batches, and gives each to a lane that commits it."""

import asyncio
from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from itertools import chain
from typing import Any

from storage.engine.group_commit import GroupCommit, QueuedWrite, resolve
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
    No program is in two running batches: the second would wait for the rows of the first. Each program has a queue of
    its own, and programs take turns, so that what waits for a running batch costs the others nothing.
    """

    def __init__(self, lanes: Sequence[GroupCommit]) -> None:
        self.lanes = lanes
        self.availability = lanes[0].availability  # all of them share it
        self._idle = list(lanes)
        self._waiting: defaultdict[Hashable, deque[QueuedWrite]] = defaultdict(deque)  # by program
        self._ready: dict[Hashable, None] = {}  # the waiting programs of no running batch, those waiting longest first
        self.waiting = 0  # writes without a batch
        self._held: set[Hashable] = set()  # the programs of the running batches
        self._started_at: dict[GroupCommit, float] = {}  # of the running batches, by lane
        self._one_program = False  # in each batch
        self._woken = asyncio.Event()
        self._closing = False
        self._loop = asyncio.get_running_loop()
        self._expiry = self._loop.call_later(LONGEST_WAIT_SECONDS, self._expire)
        self._task = asyncio.create_task(self._run())

    def write(
        self, operation: Callable[..., Any], *arguments: Any, lane: Hashable = 0, is_dry: bool = False, **options: Any
    ) -> asyncio.Future[Any]:
        """Queue a write; the future resolves after the commit, or after a dry run is rolled back. Raises Overloaded."""
        if self.waiting >= MOST_WAITING or self._closing:
            raise Overloaded(retry_after_seconds=1)
        result = self._loop.create_future()
        write = QueuedWrite(operation, arguments, options, result, self._loop.time(), lane, is_dry)
        self._waiting[lane].append(write)
        self.waiting += 1
        if lane not in self._held:
            self._ready[lane] = None
            if self._may_start():
                self._woken.set()
        return result

    async def close(self) -> None:
        """Commit all that is queued, then end; wait at most a few seconds for an unresponsive database."""
        self._closing = True
        self._woken.set()
        await asyncio.wait([self._task], timeout=CLOSE_SECONDS)
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task
        self._expiry.cancel()
        for write in chain.from_iterable(self._waiting.values()):
            resolve(write, Overloaded(retry_after_seconds=1))

    async def _run(self) -> None:
        async with asyncio.TaskGroup() as batches:
            while self._waiting or not self._closing:
                await self._woken.wait()
                self._woken.clear()
                while self._ready and self._may_start():
                    lane = self._idle.pop()
                    self._one_program = await lane.partitions_by_program()
                    seen = 0
                    while seen < self.waiting < LARGEST_BATCH:  # requests that are being parsed join, for fewer commits
                        seen = self.waiting
                        await asyncio.sleep(0)
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
        if not self._idle:
            return False
        is_slow = self._loop.time() - max(self._started_at.values()) >= SLOW_SECONDS
        return is_slow or self.waiting >= LARGEST_BATCH or self._one_program

    def _next_batch(self) -> list[QueuedWrite]:
        """Take the next programs' writes, except those whose callers left or waited too long; others stay."""
        batch: list[QueuedWrite] = []
        oldest = self._loop.time() - LONGEST_WAIT_SECONDS
        while self._ready and len(batch) < LARGEST_BATCH and not (self._one_program and batch):
            program = next(iter(self._ready))
            self._reject_late(program, oldest)
            writes = self._waiting[program]
            while writes and len(batch) < LARGEST_BATCH:
                write = writes.popleft()
                self.waiting -= 1
                if not write.result.done():
                    batch.append(write)
            del self._ready[program]
            if not writes:
                del self._waiting[program]
        return batch

    async def _commit(self, lane: GroupCommit, batch: list[QueuedWrite], programs: set[Hashable]) -> None:
        slow = self._loop.call_later(SLOW_SECONDS, self._woken.set)
        try:
            await lane.commit(batch)
        finally:
            slow.cancel()
            self._held -= programs
            self._ready |= dict.fromkeys(programs & self._waiting.keys())
            del self._started_at[lane]
            self._idle.append(lane)
            self._woken.set()

    def _reject_late(self, program: Hashable, oldest: float) -> None:
        writes = self._waiting[program]
        while writes and writes[0].queued_at <= oldest:
            resolve(writes.popleft(), Overloaded(retry_after_seconds=1))
            self.waiting -= 1

    def _expire(self) -> None:
        """Reject late writes while no batch takes them, and schedule the next check."""
        now = self._loop.time()
        for program in list(self._waiting):
            self._reject_late(program, now - LONGEST_WAIT_SECONDS)
            if not self._waiting[program]:
                del self._waiting[program]
                self._ready.pop(program, None)
        next_at = min((writes[0].queued_at for writes in self._waiting.values()), default=now)
        self._expiry = self._loop.call_at(next_at + LONGEST_WAIT_SECONDS, self._expire)
