"""The service's data. Open it with `async with storage.opened(url) as store`."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from datetime import datetime
from functools import partial
from typing import Any, Concatenate, ParamSpec, TypeVar

from sqlalchemy import Connection

from storage.engine import citus, database, read_queue
from storage.engine.failures import Availability
from storage.engine.group_commit import GroupCommit, SetBased, Write
from storage.engine.read_queue import ReadQueue, Replica
from storage.engine.write_queue import WriteQueue
from storage.rules.errors import ServiceError
from storage.tracking.key_callers import CallerCounts
from storage.tracking.received_calls import Call, Outcome, PresentedKey, staged

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")
Item = TypeVar("Item")
Read = Callable[Concatenate[Connection, Parameters], Result]
MOST_REMEMBERED = 10_000
ESSENTIAL = ("reading", "writing")  # what the service cannot do without
DEFAULT_URL = "sqlite+aiosqlite:///svc.db"  # a file in the working directory


class Reader:
    """Runs read operations on connections that cannot write. The MCP server gets nothing else."""

    def __init__(self, reads: ReadQueue, replica: Replica | None = None) -> None:
        self.reads = reads
        self.replica = replica  # where `report` reads, if there is one

    async def read(
        self, operation: Read[Parameters, Result], *arguments: Parameters.args, **options: Parameters.kwargs
    ) -> Result:
        """Run an operation over one snapshot, on a thread; raises what it raises, Overloaded, StorageUnavailable."""
        return await self.reads.run(lambda connection: operation(connection, *arguments, **options))

    async def report(
        self, operation: Read[Parameters, Result], *arguments: Parameters.args, **options: Parameters.kwargs
    ) -> Result:
        """Run a read that may lag some seconds, never one that proves a key or session: on the replica, or `read`."""
        if self.replica is not None and self.replica.is_near:
            with suppress(*read_queue.UNANSWERED):
                return await self.replica.run(lambda connection: operation(connection, *arguments, **options))
        return await self.read(operation, *arguments, **options)


class Storage(Reader):
    """Reads, and writes through group commit."""

    def __init__(
        self, reads: ReadQueue, writer: WriteQueue, replica: Replica | None = None, *, is_dry: bool = False
    ) -> None:
        super().__init__(reads, replica)
        self._is_dry = is_dry
        self.writer = writer
        self._written: set[int] = set()
        self._nodes: dict[str, Availability] = {}
        self.callers = CallerCounts()
        self._programs: dict[str, int] = {}  # of keys that do not name theirs: it only chooses a lane

    @property
    def reader(self) -> Reader:
        """The same reads and connections, for callers that must not write."""
        return Reader(self.reads, self.replica)

    @property
    def dry_run(self) -> "Storage":
        """The same storage, for one request whose writes get their results or errors and are then rolled back."""
        return Storage(self.reads, self.writer, self.replica, is_dry=True)

    async def write(
        self, operation: Write[Parameters, Result], /, *arguments: Parameters.args, **options: Parameters.kwargs
    ) -> Result:
        """Run a write operation and return its result after the commit that holds its rows.

        Raises the ServiceError that the operation raises, with nothing stored, or returns, after the commit;
        Overloaded when too many writes wait, or this one has waited too long, and nothing is stored for it;
        StorageUnavailable in an outage; OutcomeUnknown where the database does not say whether it stored the write.
        """
        return await self.write_in(0, operation, *arguments, **options)

    async def write_in(
        self,
        program_id: int,
        operation: Write[Parameters, Result],
        /,
        *arguments: Parameters.args,
        **options: Parameters.kwargs,
    ) -> Result:
        """Run a write operation of a program, whose writes never run side by side, as `write` does."""
        self._written.add(program_id)
        return await self.writer.write(operation, *arguments, lane=program_id, is_dry=self._is_dry, **options)

    def write_item(self, program_id: int, operation: SetBased[Item, Result], item: Item) -> asyncio.Future[Result]:
        """Have a set-based operation handle an item of a program, with others of its batch, as `write` does."""
        self._written.add(program_id)
        return self.writer.write(operation, item, lane=program_id, is_dry=self._is_dry)

    def handle(self, operation: Callable[..., Any], call: Call) -> asyncio.Future[Outcome]:
        """Run a tracking operation for a caller and return its outcome after the commit that holds its rows.

        The writer resolves the principals of a batch and gives the operation their programs. An error is in the
        outcome, and in the log of rejected calls if the call presented a key. A repeatable call that was made before
        has its first response as the result, Replayed. Raises what `write` raises.
        """
        principal = call.principal
        lane = principal.program_id or 0
        if isinstance(principal, PresentedKey):
            self.callers.add(principal, call.name, call.at)
            lane = lane or self._programs.get(principal.key_hash, 0)
        outcome = self.write_item(lane, staged(operation), call)
        if isinstance(principal, PresentedKey) and not lane:
            outcome.add_done_callback(partial(self._remember, principal.key_hash))
        return outcome

    async def measure_replica(self, *, at: datetime) -> None:
        """Store the time on the primary, and note how far the replica lags behind it."""
        if self.replica is not None:
            await self.write(read_queue.probe, at=at)
            await self.replica.measure(at=at)

    async def watch_nodes(self) -> None:
        """Ask the coordinator of a cluster which nodes respond."""
        found = await self.read(citus.nodes)
        self._nodes = {name: self._nodes.get(name) or Availability(f"the programs on {name}") for name in found}
        for name, node in self._nodes.items():
            node.succeeded() if found[name] else node.failed("the coordinator cannot connect to it")

    @property
    def lacking(self) -> list[str]:
        """The nodes of the cluster and the replica that do not respond: the rest works."""
        return [name for name, each in self.databases.items() if each.is_known_bad and name not in ESSENTIAL]

    @property
    def databases(self) -> dict[str, Availability]:
        """Whether each database responds, by what it is used for; any thread may read it."""
        found = {"reading": self.reads.availability, "writing": self.writer.availability}
        found |= {"replica": self.replica.availability} if self.replica else {}
        return found | {f"node {name}": node for name, node in self._nodes.items()}

    def take_written(self) -> set[int]:
        """Return the lanes (programs) that this process has written to since the last call."""
        written, self._written = self._written, set()
        return written

    @property
    def is_available(self) -> bool:
        """Whether the database worked for the last reads and writes."""
        return not (self.reads.availability.is_known_bad or self.writer.availability.is_known_bad)

    def _remember(self, key_hash: str, outcome: asyncio.Future[Outcome]) -> None:
        if not outcome.cancelled() and not outcome.exception() and (key := outcome.result().key):
            if len(self._programs) >= MOST_REMEMBERED:
                self._programs.clear()
            self._programs[key_hash] = key.program_id


class OneTransaction(Storage):
    """Storage within a running write: what an action reads and writes there is of that write's transaction."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.replica = None

    async def read(self, operation: Any, *arguments: Any, **options: Any) -> Any:
        """Run a read. Raises what it raises."""
        return operation(self._connection, *arguments, **options)

    async def write_in(self, _: int, operation: Any, /, *arguments: Any, **options: Any) -> Any:
        result = operation(self._connection, *arguments, **options)
        if isinstance(result, ServiceError):
            raise result
        return result


@asynccontextmanager
async def opened(url: str, *, replica_url: str | None = None, patient: bool = False) -> AsyncIterator[Storage]:
    """Open a migrated database, and its replica for `Reader.report`; `patient` is for commands, without time limits."""
    address = database.parse_url(url)
    writing, reading = database.lanes(address, patient=patient)
    replicas = database.lanes(database.parse_url(replica_url), patient=patient)[1] if replica_url else []
    available = Availability("writing")
    how = {"each_operation": not database.is_sqlite(address), "patient": patient}
    writer = WriteQueue([GroupCommit(lane, available, number=n, **how) for n, lane in enumerate(writing)])
    try:
        replica = Replica(replicas) if replicas else None
        yield Storage(ReadQueue(reading, Availability("reading")), writer, replica)
    finally:
        await writer.close()
        await asyncio.gather(*(lane.close() for lane in (*writing, *reading, *replicas)))
