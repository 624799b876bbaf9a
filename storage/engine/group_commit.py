"""Group commit: many requests' writes in one transaction; an answer waits for the commit that holds its rows."""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError

from storage.engine.database import Lane
from storage.rules.errors import Overloaded, ServiceError

MOST_WAITING = 10_000
LARGEST_BATCH = 256
ATTEMPTS = 4
Operation = TypeVar("Operation", bound=Callable[..., Any])
log = logging.getLogger(__name__)


def set_based(operation: Operation) -> Operation:
    """Mark a hot operation: `operation(connection, batch) -> results`, one result (or ServiceError) for each item."""
    operation.set_based = True  # type: ignore[attr-defined]
    return operation


def is_set_based(operation: Callable[..., Any]) -> bool:
    """Say whether an operation takes a whole batch at once."""
    return getattr(operation, "set_based", False)


def run_alone(connection: Connection, operation: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """Run a cold operation in a savepoint and return its result or ServiceError: an error undoes its own rows alone."""
    try:
        with connection.begin_nested():
            return operation(connection, *arguments, **options)
    except ServiceError as error:
        return error


class StaleReadError(Exception):
    """Another transaction changed what this one had read, before it could write: run the write again."""


LOST_RACES = (StaleReadError, IntegrityError)  # on fresh rows the rules decide otherwise


class QueuedWrite(NamedTuple):
    """One write that waits for its batch."""

    operation: Callable[..., Any]
    arguments: tuple[Any, ...]
    options: dict[str, Any]
    answer: asyncio.Future[Any]


class GroupCommit:
    """One lane's queue and the task that empties it, batch by batch."""

    def __init__(self, lane: Lane, *, commits_each_operation: bool) -> None:
        self._lane = lane
        self._commits_each_operation = commits_each_operation
        self._queue: deque[QueuedWrite] = deque()
        self._arrived = asyncio.Event()
        self._closing = False
        self._task = asyncio.create_task(self._run())

    def write(self, operation: Callable[..., Any], *arguments: Any, **options: Any) -> asyncio.Future[Any]:
        """Queue a write; the future resolves after the commit. Raises Overloaded when the queue is full."""
        if len(self._queue) >= MOST_WAITING or self._closing:
            raise Overloaded(retry_after_seconds=1)
        answer = asyncio.get_running_loop().create_future()
        self._queue.append(QueuedWrite(operation, arguments, options, answer))
        self._arrived.set()
        return answer

    async def close(self) -> None:
        """Commit all that is queued, then end."""
        self._closing = True
        self._arrived.set()
        await self._task

    async def _run(self) -> None:
        while self._queue or not self._closing:
            await self._arrived.wait()
            self._arrived.clear()
            while self._queue:
                await self._gather()
                size = min(len(self._queue), LARGEST_BATCH)
                await self._commit([self._queue.popleft() for _ in range(size)])

    async def _gather(self) -> None:
        """Let the requests that are being parsed right now join: fewer commits, and no wait when there are none."""
        seen = 0
        while seen < len(self._queue) < LARGEST_BATCH:
            seen = len(self._queue)
            await asyncio.sleep(0)

    async def _commit(self, batch: list[QueuedWrite]) -> None:
        groups = [list(group) for _, group in groupby(sorted(batch, key=_order), key=_order)]
        transactions = [[group] for group in groups] if self._commits_each_operation else [groups]
        for transaction in transactions:
            await self._transact(transaction)

    async def _transact(self, groups: list[list[QueuedWrite]], *, attempts: int = ATTEMPTS) -> None:
        """Run the groups in one transaction; if that fails, every write alone; one that lost a race, again."""
        try:
            results = await self._lane.run(lambda connection: _run_groups(connection, groups))
        except Exception as error:  # noqa: BLE001 - whatever it is, it reaches the caller it belongs to
            writes = [write for group in groups for write in group]
            if len(writes) == 1 and attempts > 1 and isinstance(error, LOST_RACES):
                await self._transact(groups, attempts=attempts - 1)
            elif len(writes) == 1:
                _answer(writes[0], error)
            else:
                log.warning("a batch of %d writes failed (%s); each is tried alone", len(writes), error)
                for write in writes:
                    await self._transact([[write]])
        else:
            for write, result in results:
                _answer(write, result)


def _order(write: QueuedWrite) -> tuple[str, str]:
    return write.operation.__module__, write.operation.__qualname__


def _run_groups(connection: Connection, groups: list[list[QueuedWrite]]) -> list[tuple[QueuedWrite, Any]]:
    results: list[tuple[QueuedWrite, Any]] = []
    for group in groups:
        operation = group[0].operation
        if is_set_based(operation):
            outcomes: Sequence[Any] = operation(connection, [write.arguments[0] for write in group])
        else:
            outcomes = [run_alone(connection, operation, *write.arguments, **write.options) for write in group]
        results.extend(zip(group, outcomes, strict=True))
    return results


def _answer(write: QueuedWrite, result: Any) -> None:
    if write.answer.cancelled():
        return
    if isinstance(result, BaseException):
        write.answer.set_exception(result)
    else:
        write.answer.set_result(result)
