"""A Citus cluster of the tests' own: a coordinator and two workers, where the extension is built or installed."""

import asyncio
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, event

from storage import migrations
from storage.engine import citus, database
from tests import needs, postgres
from tests.postgres import Server, connected, execute, named

SETTINGS = """shared_preload_libraries = 'citus'
citus.node_conninfo = 'sslmode=prefer'
citus.shard_count = 4
citus.enable_stat_counters = on
citus.local_shared_pool_size = 150
max_prepared_transactions = 200
"""

_MONTHS = """SELECT relname, pg_get_expr(relpartbound, pg_class.oid) FROM pg_inherits JOIN pg_class
ON pg_class.oid = inhrelid WHERE inhparent = 'clicks'::regclass"""
_SCRIPTS = Path(__file__).parent
_EMPTY = (_SCRIPTS / "citus_empty.sql").read_text(encoding="utf-8")
_RESTART_IDS = (_SCRIPTS / "citus_restart_ids.sql").read_text(encoding="utf-8")
OF_A_PROGRAM = re.compile(r"^(?!EXPLAIN).*program_id = (CAST\()?\$\d", re.DOTALL)
ONE_TASK = re.compile(r"Task Count: 1\b")
PLANNED: dict[str, Any] = {}  # what was planned already


@dataclass(frozen=True)
class Cluster:
    """A coordinator and its workers."""

    coordinator: Server
    workers: list[Server]
    months: dict[str, str] = field(default_factory=dict)  # the partitions of clicks to go back to, with their bounds

    async def create_database(self, name: str) -> str:
        """Create an empty database on each node, known to each other, and return its URL on the coordinator."""
        for server in (self.coordinator, *self.workers):
            await execute(server.url, f'CREATE DATABASE "{name}"')
            await execute(named(server.url, name), "CREATE EXTENSION citus")
        nodes = [f"SELECT citus_set_coordinator_host('127.0.0.1', {self.coordinator.port})"]
        nodes += [f"SELECT citus_add_node('127.0.0.1', {worker.port})" for worker in self.workers]
        await execute(url := named(self.coordinator.url, name), *nodes)
        return url

    async def empty(self, name: str) -> None:
        """Delete all rows of a distributed database, on each node for itself, and let ids and months begin again."""
        nodes = (self.coordinator, *self.workers)
        await asyncio.gather(*(execute(named(server.url, name), _EMPTY) for server in nodes))
        stored = await find_months(named(self.coordinator.url, name))
        changed = [f"DROP TABLE {month}" for month in stored if self.months.get(month) != stored[month]]
        changed += [
            f"CREATE TABLE {month} PARTITION OF clicks {bound}"
            for month, bound in self.months.items()
            if stored.get(month) != bound
        ]
        await execute(named(self.coordinator.url, name), _RESTART_IDS, *changed)


@contextmanager
def running(workers: int = 2, settings: str = "") -> Iterator[Cluster]:
    """Run a cluster in folders of its own."""
    where = max(needs.CITUS_PREFIX.glob("usr/lib/postgresql/*/bin"))
    with ExitStack() as stack:
        servers = [stack.enter_context(postgres.running(where, SETTINGS + settings)) for _ in range(1 + workers)]
        yield Cluster(servers[0], servers[1:])


async def distribute(url: str) -> None:
    """Migrate and distribute a database."""
    await migrations.upgrade(url)
    lane = database.lanes(database.parse_url(url), patient=True)[0][0]
    for step in await lane.run(citus.steps):
        if step.run is not None:
            await lane.run(step.run)
    await lane.close()


@contextmanager
def one_task_each(url: str) -> Iterator[None]:
    """Hold each statement that names a program to one task on one node, while the block runs; each is planned once."""
    new: dict[str, Any] = {}

    def note(_connection: Any, _cursor: Any, statement: str, parameters: Any, _context: Any, is_many: bool) -> None:  # noqa: FBT001
        if OF_A_PROGRAM.search(statement) and statement not in PLANNED:
            new.setdefault(statement, parameters[0] if is_many else parameters)

    event.listen(Engine, "after_cursor_execute", note)
    try:
        yield
    finally:
        event.remove(Engine, "after_cursor_execute", note)
    PLANNED.update(new)
    plans = asyncio.run(_plans(url, new))
    scattered = {statement: plan for statement, plan in plans.items() if not ONE_TASK.search(plan)}
    assert scattered == {}


async def _plans(url: str, statements: dict[str, Any]) -> dict[str, str]:
    async with connected(url) as connection:
        return {
            each: "\n".join(row[0] for row in await connection.fetch(f"EXPLAIN {each}", *values))
            for each, values in statements.items()
        }


async def find_months(url: str) -> dict[str, str]:
    """Return the partitions of clicks with their bounds."""
    async with connected(url) as connection:
        return dict(await connection.fetch(_MONTHS))
