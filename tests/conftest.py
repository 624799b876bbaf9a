"""Fixtures that every test shares: a migrated database of each kind, storage over it, and live server processes."""

import asyncio
import os
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus
from itertools import count
from pathlib import Path

import httpx
import pytest
from hypothesis import HealthCheck, settings
from playwright.async_api import Browser

import storage
from cli.demo import sample
from storage import Storage, migrations
from storage.engine import write_queue
from tests import chromium, citus, postgres, proxy, redis, serving, shops, world
from tests.citus import Cluster
from tests.needs import ON_CITUS
from tests.postgres import named
from tests.proxy import Proxy
from tests.redis import RedisServer
from tests.serving import PLAIN, Serve, Served
from tests.world import SEALER, World

pytest_plugins = ["tests.suites"]
for profile, examples in (("few", 25), ("many", 100), ("million", 500_000)):  # `--hypothesis-profile many`
    settings.register_profile(
        profile,
        max_examples=examples,
        deadline=None,
        derandomize=True,  # so that a run tries what the last one tried
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    )
settings.load_profile("few")
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # a server that compiles all modules starts half a second later
ROOT = Path(__file__).parent.parent
_numbers = count(1)  # of server processes
KINDS = {"sqlite": "sqlite_url", "postgresql": "postgres_url"}
if ON_CITUS:
    KINDS = {"citus": "citus_url"}


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated SQLite file, to be copied."""
    path = tmp_path_factory.mktemp("sqlite") / "template.db"
    asyncio.run(migrations.upgrade(f"sqlite+aiosqlite:///{path}"))
    return path


@pytest.fixture
def sqlite_url(sqlite_template: Path, tmp_path: Path) -> str:
    """The URL of a fresh, migrated SQLite database."""
    return f"sqlite+aiosqlite:///{shutil.copy(sqlite_template, tmp_path / 'svc.db')}"


@pytest.fixture(scope="session")
def demo(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SQLite file that holds the demo's workspace, to be copied."""
    path = Path(shutil.copy(sqlite_template, tmp_path_factory.mktemp("demo") / "demo.db"))

    async def fill() -> None:
        async with storage.opened(f"sqlite+aiosqlite:///{path}", patient=True) as store:
            at = datetime(2026, 11, 20, 12, tzinfo=UTC)
            await store.write(sample.create, password_hash="-", sealer=SEALER, at=at)

    asyncio.run(fill())
    return path


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The URL of a running PostgreSQL whose database `service` is migrated."""
    with postgres.running() as server:
        asyncio.run(postgres.create_database(server.url, "service"))
        asyncio.run(migrations.upgrade(named(server.url, "service")))
        yield server.url


@pytest.fixture
def empty_postgres_url(postgres_server: str, request: pytest.FixtureRequest) -> Iterator[str]:
    """The URL of a fresh PostgreSQL database without a table."""
    with _lent(postgres_server, f"empty_{abs(hash(request.node.nodeid))}") as url:
        yield url


@pytest.fixture
def postgres_url(request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of a fresh, migrated PostgreSQL database; of the cluster's where the tests run on Citus."""
    if "citus" in KINDS:
        yield request.getfixturevalue("citus_url")
        return
    name = f"test_{abs(hash(request.node.nodeid))}"
    with _lent(request.getfixturevalue("postgres_server"), name, template="service") as url:
        yield url


@pytest.fixture
async def between(postgres_url: str) -> AsyncIterator[Proxy]:
    """A proxy before the PostgreSQL of a test; it loses, delays and cuts what the test says."""
    async with proxy.before(postgres_url) as running:
        yield running


@pytest.fixture(scope="session")
def citus_cluster() -> Iterator[Cluster]:
    """A running Citus cluster whose database `service` is migrated and distributed."""
    with citus.running() as cluster:
        url = asyncio.run(cluster.create_database("service"))
        asyncio.run(citus.distribute(url))
        cluster.months.update(asyncio.run(citus.find_months(url)))
        yield cluster


@pytest.fixture
def citus_url(citus_cluster: Cluster) -> Iterator[str]:
    """The address of a migrated, distributed, empty database."""
    try:
        with citus.one_task_each(url := named(citus_cluster.coordinator.url, "service")):
            yield url
    finally:
        asyncio.run(citus_cluster.empty("service"))


@pytest.fixture(params=KINDS)
def database_url(request: pytest.FixtureRequest) -> str:
    """The URL of a fresh, migrated database, once of each kind."""
    url: str = request.getfixturevalue({"sqlite": "sqlite_url", **KINDS}[request.param])
    return url


@pytest.fixture
async def store(database_url: str) -> AsyncIterator[Storage]:
    """Open storage, once on each database."""
    async with storage.opened(database_url) as opened:
        yield opened


@pytest.fixture
def side_by_side(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the writes of different lanes run at the same time, as those of several processes do."""
    monkeypatch.setattr(write_queue, "LARGEST_BATCH", 1)


@pytest.fixture
async def acme(store: Storage) -> World:
    """Acme, its program, and its partners Anna and Ben."""
    return await world.acme(store)


@contextmanager
def _lent(server: str, name: str, template: str = "template1") -> Iterator[str]:
    """Create a database and drop it at the end, whoever still uses it: a thousand of them would fill the memory."""
    yield asyncio.run(postgres.create_database(server, name, template))
    asyncio.run(postgres.execute(server, f'DROP DATABASE "{name}" WITH (FORCE)'))


@pytest.fixture(scope="session")
async def running_chromium() -> AsyncIterator[Browser]:
    """The one Chromium of this worker."""
    async with chromium.launched() as running:
        yield running


@pytest.fixture
async def browser(running_chromium: Browser) -> AsyncIterator[Browser]:
    """A browser whose contexts are the test's own."""
    yield running_chromium
    for context in running_chromium.contexts:
        with suppress(TimeoutError):  # once in thousands Chromium never answers; an open context disturbs no test
            async with asyncio.timeout(20):
                await context.close()


@pytest.fixture
def redis_server(tmp_path: Path) -> Iterator[RedisServer]:
    """A Redis of the test's own."""
    with redis.running(tmp_path) as server:
        yield server


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Serve databases in this process: `serve(database_url, **environment)`; all end with the test."""
    with ExitStack() as stack:
        yield lambda database_url, **environment: stack.enter_context(serving.in_a_thread(database_url, **environment))


@dataclass
class LiveServer(Served):
    """A running server process."""

    process: subprocess.Popen[bytes]


@pytest.fixture
def live_server(tmp_path: Path) -> Iterator[Callable[..., LiveServer]]:
    """Start real server processes: `live_server(database_url, workers=1, **environment)`; all end with the test."""
    with servers(tmp_path) as start:
        yield start


@contextmanager
def servers(folder: Path) -> Iterator[Callable[..., LiveServer]]:
    """Give a function that starts real server processes in a folder; all end with the block."""
    with ExitStack() as stack:

        def start(database_url: str, *, workers: int = 1, port: int | None = None, **environment: str) -> LiveServer:
            command = [sys.executable, "-m", "cli", "serve", "--port", str(port or "PORT"), "--workers", str(workers)]
            settings = {"SVC_DATABASE_URL": database_url, "SVC_RATE_LIMIT": "off", "PYTHONPATH": str(ROOT)}
            log = folder / f"server-{next(_numbers)}.log"
            running = shops.running(command, "Serving on", cwd=folder, log=log, **settings | environment)
            free_port, process = stack.enter_context(running)
            base_url = f"http://127.0.0.1:{port or free_port}"
            while httpx.get(f"{base_url}/readyz", verify=PLAIN, timeout=60).status_code != HTTPStatus.OK:
                assert process.poll() is None, log.read_text()
            return LiveServer(base_url, database_url, process)

        yield start
