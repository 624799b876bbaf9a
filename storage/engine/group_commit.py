"""Group commit: one transaction for many requests' writes, which wait for it; and what is measured of each batch."""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeVar

from prometheus_client import Histogram
from sqlalchemy import Connection

from storage.engine import audit, feed
from storage.engine.failures import RETRY_SECONDS, Availability, is_conflict, reason_of, unavailable
from storage.engine.lane import WriteLane
from storage.rules.errors import OutcomeUnknown, ServiceError, StorageUnavailable

ATTEMPTS = 3
ANSWER_SECONDS = 8.0  # from the moment a write was queued until its caller has an answer, whatever it is
PATIENT_SECONDS = 7 * 24 * 3_600.0  # the same for commands
LARGEST_ID = 2**63
Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")
Item = TypeVar("Item")
Operation = TypeVar("Operation", bound=Callable[..., Any])
Write = Callable[Concatenate[Connection, Parameters], Result | ServiceError]  # it raises an error, or returns it
SetBased = Callable[[Connection, Sequence[Item]], Sequence[Result | ServiceError]]  # a result for each item
SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256)
BATCH_WRITES = Histogram("svc_batch_writes", "Writes in a batch.", ("lane",), buckets=SIZES)
WAIT_SECONDS = Histogram("svc_write_wait_seconds", "Longest wait in a batch.", ("lane",), buckets=SECONDS)
COMMIT_SECONDS = Histogram("svc_commit_seconds", "Time of a transaction.", ("lane",), buckets=SECONDS)
log = logging.getLogger(__name__)


def set_based(operation: Operation) -> Operation:
    """Mark a hot operation: `operation(connection, batch) -> results`, one result (or ServiceError) for each item."""
    operation.set_based = True  # type: ignore[attr-defined]
    return operation


class QueuedWrite(NamedTuple):
    operation: Callable[..., Any]
    arguments: tuple[Any, ...]
    options: dict[str, Any]
    result: asyncio.Future[Any]
    queued_at: float
    program: Hashable = 0
    is_dry: bool = False  # it has a transaction of its own, which is rolled back


class _RolledBackError(Exception):
    """The result of a dry run; the lane rolls its transaction back, as for any exception."""

    def __init__(self, result: Any) -> None:
        super().__init__("a dry run")
        self.result = result


class GroupCommit:
    """Commits batches over one lane, one after the other."""

    def __init__(
        self, lane: WriteLane, availability: Availability, *, each_operation: bool, number: int, patient: bool
    ) -> None:
        self._lane = lane
        self.availability = availability
        self._each_operation = each_operation  # has a transaction, as on PostgreSQL, whose lanes run side by side
        self._by_program = False
        self._writes = BATCH_WRITES.labels(number)
        self._wait_seconds = WAIT_SECONDS.labels(number)
        self._commit_seconds = COMMIT_SECONDS.labels(number)
        self._answer_seconds = PATIENT_SECONDS if patient else ANSWER_SECONDS
        self._loop = asyncio.get_running_loop()

    async def partitions_by_program(self) -> bool:
        """Return whether a transaction may write one program only: a distributed database commits it on one node."""
        self._by_program = await self._lane.is_distributed()
        return self._by_program

    async def commit(self, batch: list[QueuedWrite]) -> None:
        """Run a batch, commit it, and resolve every write of it; an outage of the whole database ends the batch."""
        self._writes.observe(len(batch))
        self._wait_seconds.observe(self._loop.time() - batch[0].queued_at)
        outages: dict[tuple[str, str] | None, StorageUnavailable] = {}  # of the whole database, or of one operation
        oldest = min(write.queued_at for write in batch)
        late = self._loop.call_at(oldest + self._answer_seconds, _give_up, batch)
        try:
            for writes in transactions_of(batch, each_operation=self._each_operation, by_program=self._by_program):
                waiting = [write for write in writes if not write.result.done()]
                kind = _order(writes[0])
                if outage := outages.get(None) or outages.get(kind):
                    _resolve_all(waiting, [outage] * len(waiting))
                elif waiting and (outage := await self._transact(waiting)):
                    outages[kind if outage.is_partial else None] = outage
        finally:
            late.cancel()
            _give_up(batch)  # the lane closes before their outcome is known

    async def _transact(self, writes: list[QueuedWrite], *, attempts: int = ATTEMPTS) -> StorageUnavailable | None:
        """Run writes together: after a conflict again, after an error in halves; return an outage that others meet."""
        try:
            with self.availability.observed():
                started_at = self._loop.time()
                program = writes[0].program  # on a distributed database, of all of them
                program_id = program if isinstance(program, int) and 0 < program < LARGEST_ID else 0
                results = await self._lane.write(lambda connection: _run_all(connection, writes), program_id)
                self._commit_seconds.observe(self._loop.time() - started_at)
        except _RolledBackError as dry:
            results = [dry.result]
        except (StorageUnavailable, OutcomeUnknown) as outage:
            _resolve_all(writes, [outage] * len(writes))
            return None if outage.is_partial and self._by_program else unavailable(outage, is_partial=outage.is_partial)
        except Exception as error:
            if is_conflict(error) and attempts > 1:
                return await self._transact(writes, attempts=attempts - 1)
            if len(writes) > 1:
                log.warning("a batch of %d writes failed (%s); each half is tried alone", len(writes), reason_of(error))
                middle = len(writes) // 2
                return await self._transact(writes[:middle]) or await self._transact(writes[middle:])
            if is_conflict(error):  # at every attempt: the database has stored nothing of it
                log.error("a write conflicts with what is stored", exc_info=error)  # noqa: TRY400 - one line
            results = [StorageUnavailable(retry_after_seconds=RETRY_SECONDS) if is_conflict(error) else error]
        _resolve_all(writes, results)
        return None


def transactions_of(batch: list[QueuedWrite], *, each_operation: bool, by_program: bool) -> list[list[QueuedWrite]]:
    """Split a batch into transactions, each with its writes sorted by operation.

    Where each operation has its own, a set-based one locks the rows of all its writes in one order (customers, then
    rollups by key); another one locks rows as it goes, so each of its writes has its own. So does each dry run.
    """
    parts: defaultdict[tuple[str, Callable[..., Any]], list[QueuedWrite]] = defaultdict(list)
    dry_runs = [[write] for write in batch if write.is_dry]
    if dry_runs:
        batch = [write for write in batch if not write.is_dry]
    for write in batch:
        parts[str(write.program) if by_program else "", write.operation].append(write)
    ordered = sorted(parts.items(), key=lambda part: (part[0][0], _order(part[1][0])))
    if not each_operation:
        return [*([[write for _, writes in ordered for write in writes]] if batch else []), *dry_runs]
    transactions = [
        transaction
        for (_, operation), writes in ordered
        for transaction in ([writes] if hasattr(operation, "set_based") else [[write] for write in writes])
    ]
    return transactions + dry_runs


def _order(write: QueuedWrite) -> tuple[str, str]:
    return write.operation.__module__, write.operation.__qualname__


def _run_all(connection: Connection, writes: Sequence[QueuedWrite]) -> list[Any]:
    """Run writes, which are sorted by operation, and return their results."""
    results: list[Any] = []
    with audit.collected(connection, feed.NOTES) as notes:
        for operation, group in groupby(writes, key=attrgetter("operation")):
            if hasattr(operation, "set_based"):
                results.extend(operation(connection, [write.arguments[0] for write in group]))
                continue
            for write in group:
                try:
                    with feed.undone_on_error(notes), connection.begin_nested():  # an error undoes its own rows alone
                        results.append(operation(connection, *write.arguments, **write.options))
                except ServiceError as error:
                    results.append(error)
        if len(results) != len(writes):
            raise RuntimeError("an operation did not return one result for each item")
        if writes[0].is_dry:
            raise _RolledBackError(results[0])
        if notes:
            feed.save(connection, notes)
    return results


def _resolve_all(writes: Sequence[QueuedWrite], results: Sequence[Any]) -> None:
    for write, result in zip(writes, results, strict=True):
        resolve(write, result)


def _give_up(batch: Sequence[QueuedWrite]) -> None:
    for write in batch:
        if not write.result.done():
            resolve(write, OutcomeUnknown(retry_after_seconds=RETRY_SECONDS))


def resolve(write: QueuedWrite, result: Any) -> None:
    """Give a write its result, or raise the error where its caller waits."""
    if write.result.done():  # its caller left or waited too long
        return
    if isinstance(result, BaseException):
        write.result.set_exception(result)
    else:
        write.result.set_result(result)
