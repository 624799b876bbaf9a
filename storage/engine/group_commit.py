"""Group commit: one transaction for many requests' writes; each response waits for the commit of its rows."""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from itertools import groupby
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import Connection

from storage.engine.availability import Availability
from storage.engine.failures import RETRY_SECONDS, is_conflict, reason_of
from storage.engine.lane import WriteLane
from storage.engine.measures import LaneMeasures
from storage.rules.errors import OutcomeUnknown, Overloaded, ServiceError, StorageUnavailable

MOST_WAITING = 10_000
LONGEST_WAIT_SECONDS = 5.0
LARGEST_BATCH = 256
ATTEMPTS = 3
CLOSE_SECONDS = 4.0
LARGEST_ID = 2**63
Operation = TypeVar("Operation", bound=Callable[..., Any])
log = logging.getLogger(__name__)


def set_based(operation: Operation) -> Operation:
    """Mark a hot operation: `operation(connection, batch) -> results`, one result (or ServiceError) for each item."""
    operation.set_based = True  # type: ignore[attr-defined]
    return operation


def is_set_based(operation: Callable[..., Any]) -> bool:
    """Return whether an operation takes a whole batch at once."""
    return getattr(operation, "set_based", False)


def run_alone(connection: Connection, operation: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """Run a cold operation in a savepoint and return its result or ServiceError: an error undoes its own rows alone."""
    try:
        with connection.begin_nested():
            return operation(connection, *arguments, **options)
    except ServiceError as error:
        return error


class Commits(NamedTuple):
    """How a batch is split into transactions: one for each operation in it, one for each program, or one in all."""

    each_operation: bool = False
    partition_by_program: bool = False


class QueuedWrite(NamedTuple):
    """One write that waits for its batch."""

    operation: Callable[..., Any]
    arguments: tuple[Any, ...]
    options: dict[str, Any]
    result: asyncio.Future[Any]
    queued_at: float
    program: Hashable = 0


class GroupCommit:
    """One lane's queue and the task that empties it, batch by batch."""

    def __init__(self, lane: WriteLane, availability: Availability, *, commits: Commits) -> None:
        self._lane = lane
        self._availability = availability
        self._commits = commits
        self.measures = LaneMeasures()
        self._queue: deque[QueuedWrite] = deque()
        self._arrived = asyncio.Event()
        self._closing = False
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.create_task(self._run())

    def write(
        self, operation: Callable[..., Any], *arguments: Any, lane: Hashable = 0, **options: Any
    ) -> asyncio.Future[Any]:
        """Queue a write; the future resolves after the commit. Raises Overloaded when the queue is full."""
        if len(self._queue) >= MOST_WAITING or self._closing:
            raise Overloaded(retry_after_seconds=1)
        result = self._loop.create_future()
        self._queue.append(QueuedWrite(operation, arguments, options, result, self._loop.time(), lane))
        self._arrived.set()
        return result

    @property
    def waiting(self) -> int:
        """How many writes wait for a batch."""
        return len(self._queue)

    async def close(self) -> None:
        """Commit all that is queued, then end; wait at most a few seconds for an unresponsive database."""
        self._closing = True
        self._arrived.set()
        await asyncio.wait([self._task], timeout=CLOSE_SECONDS)
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task
        for write in self._queue:
            _resolve(write, Overloaded(retry_after_seconds=1))

    async def _run(self) -> None:
        while self._queue or not self._closing:
            await self._arrived.wait()
            self._arrived.clear()
            while self._queue:
                await self._gather()
                if batch := self._next_batch():
                    await self._commit(batch)

    async def _gather(self) -> None:
        """Let requests that are being parsed join the batch, for fewer commits; do not wait if there are none."""
        seen = 0
        while seen < len(self._queue) < LARGEST_BATCH:
            seen = len(self._queue)
            await asyncio.sleep(0)

    def _next_batch(self) -> list[QueuedWrite]:
        """Take the next writes from the queue, except those whose callers left or waited too long."""
        self._reject_late()
        batch: list[QueuedWrite] = []
        while self._queue and len(batch) < LARGEST_BATCH:
            write = self._queue.popleft()
            if not write.result.done():
                batch.append(write)
        return batch

    def _reject_late(self) -> None:
        oldest = self._loop.time() - LONGEST_WAIT_SECONDS
        while self._queue and self._queue[0].queued_at <= oldest:
            _resolve(self._queue.popleft(), Overloaded(retry_after_seconds=1))

    def _expire(self) -> None:
        """Reject late writes while a batch runs, and schedule the next check."""
        self._reject_late()
        next_at = self._queue[0].queued_at if self._queue else self._loop.time()
        self._expiry = self._loop.call_at(next_at + LONGEST_WAIT_SECONDS, self._expire)

    async def _commit(self, batch: list[QueuedWrite]) -> None:
        self._expiry = self._loop.call_later(LONGEST_WAIT_SECONDS, self._expire)
        self.measures.batch_writes.add(len(batch))
        self.measures.wait_seconds.add(self._loop.time() - batch[0].queued_at)
        try:
            commits = self._commits
            if not commits.partition_by_program and await self._lane.is_distributed():
                commits = commits._replace(partition_by_program=True)
            for writes in transactions_of(batch, commits):
                await self._transact(writes)
        finally:
            self._expiry.cancel()
            for write in batch:
                _resolve(
                    write, OutcomeUnknown(retry_after_seconds=RETRY_SECONDS)
                )  # the lane closes before the outcome is known

    async def _transact(self, writes: list[QueuedWrite], *, attempts: int = ATTEMPTS) -> None:
        """Run writes in one transaction: after a conflict again, after another error in halves, after an outage not."""
        try:
            with self._availability.observed():
                started_at = self._loop.time()
                program = writes[0].program  # on a distributed database, of all of them
                program_id = program if isinstance(program, int) and 0 < program < LARGEST_ID else 0
                results = await self._lane.write(lambda connection: _run_all(connection, writes), program_id)
                self.measures.commit_seconds.add(self._loop.time() - started_at)
        except (StorageUnavailable, OutcomeUnknown) as outage:
            results = [outage] * len(writes)
        except Exception as error:  # noqa: BLE001 - whatever it is, it reaches the caller it belongs to
            if is_conflict(error) and attempts > 1:
                await self._transact(writes, attempts=attempts - 1)
                return
            if len(writes) > 1:
                log.warning("a batch of %d writes failed (%s); each half is tried alone", len(writes), reason_of(error))
                middle = len(writes) // 2
                await self._transact(writes[:middle])
                await self._transact(writes[middle:])
                return
            results = [_unknown(error) if is_conflict(error) else error]
        for write, result in zip(writes, results, strict=True):
            _resolve(write, result)


def transactions_of(batch: list[QueuedWrite], commits: Commits) -> list[list[QueuedWrite]]:
    """Split a batch into transactions, each with its writes sorted by operation."""

    def part(write: QueuedWrite) -> tuple[Any, ...]:
        program = str(write.program) if commits.partition_by_program else ""
        return (program, *_order(write)) if commits.each_operation else (program,)

    ordered = sorted(batch, key=lambda write: (part(write), _order(write)))
    return [list(writes) for _, writes in groupby(ordered, key=part)]


def _order(write: QueuedWrite) -> tuple[str, str]:
    return write.operation.__module__, write.operation.__qualname__


def _run_all(connection: Connection, writes: Sequence[QueuedWrite]) -> list[Any]:
    """Run writes, which are sorted by operation, and return their results."""
    results: list[Any] = []
    for _, each in groupby(writes, key=_order):
        group = list(each)
        operation = group[0].operation
        if is_set_based(operation):
            results.extend(operation(connection, [write.arguments[0] for write in group]))
        else:
            results.extend(run_alone(connection, operation, *write.arguments, **write.options) for write in group)
    if len(results) != len(writes):
        raise RuntimeError("an operation did not return one result for each item")
    return results


def _unknown(conflict: Exception) -> OutcomeUnknown:
    """Return the error of a write that conflicts at every attempt: its rows may be stored already."""
    log.error("a write conflicts with what is stored", exc_info=conflict)
    return OutcomeUnknown(retry_after_seconds=RETRY_SECONDS)


def _resolve(write: QueuedWrite, result: Any) -> None:
    if write.result.done():  # its caller left or waited too long
        return
    if isinstance(result, BaseException):
        write.result.set_exception(result)
    else:
        write.result.set_result(result)
