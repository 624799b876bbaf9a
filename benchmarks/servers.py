"""The servers under load, each a process of its own pinned to a core: the ceiling, the service, the ORM baseline."""

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import asyncpg

from tests.postgres import binaries, free_port  # the tests find and place a server in the same way

ROOT = Path(__file__).parent.parent
SERVER_CORE, LOAD_CORE = 0, 1
UNLIMITED = "1000000000/minute"
LIMITED = ("SVC_PUBLIC_RATE", "SVC_CLICK_RATE", "SVC_LEAD_RATE", "SVC_KEYED_RATE")
RATES = {"SVC_RATE_LIMIT": "on", **dict.fromkeys(LIMITED, UNLIMITED)}
_UVICORN = ["--loop=uvloop", "--http=httptools", "--no-access-log", "--no-server-header", "--log-level=warning"]
_LONGEST_START_SECONDS = 180  # of a machine that does much else


class Server(NamedTuple):
    """A running server: where it listens and its process."""

    port: int
    pid: int


def pin(*cores: int) -> None:
    """Keep this process on some cores, where the system can do that and has more than one."""
    if hasattr(os, "sched_setaffinity") and (os.cpu_count() or 1) > 1:
        os.sched_setaffinity(0, set(cores))


@contextmanager
def bare() -> Iterator[Server]:
    """Run the ceiling."""
    with _running(["-m", "uvicorn", "benchmarks.bare:app", *_UVICORN], {}) as server:
        yield server


@contextmanager
def service(url: str, *, workers: int = 1) -> Iterator[Server]:
    """Run the service over a migrated database, as `svc serve` does it, a worker for each core; rate limits count."""
    command = ["-m", "cli", "serve", "--workers", str(workers)]
    with _running(command, {"SVC_DATABASE_URL": url, **RATES}, cores=tuple(range(workers))) as server:
        yield server


@contextmanager
def beside(url: str) -> Iterator[Server]:
    """Run what MCP's costs are measured against: a no-op tool, and get_program's read behind a bare route."""
    with _running(["-m", "uvicorn", "benchmarks.noop:app", *_UVICORN], {"SVC_DATABASE_URL": url}) as server:
        yield server


@contextmanager
def baseline(url: str) -> Iterator[Server]:
    """Run the ORM baseline over a migrated database."""
    with _running(["-m", "uvicorn", "benchmarks.baseline:app", *_UVICORN], {"SVC_DATABASE_URL": url}) as server:
        yield server


@contextmanager
def _running(
    arguments: list[str], environment: dict[str, str], cores: tuple[int, ...] = (SERVER_CORE,)
) -> Iterator[Server]:
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, *arguments, "--port", str(port)],
        cwd=ROOT,
        env={**os.environ, **environment},
        stdout=subprocess.DEVNULL,
        preexec_fn=lambda: pin(*cores),  # noqa: PLW1509 - this process has no second thread yet that holds a lock
    )
    try:
        _wait(lambda: _listens(port), process)
        yield Server(port, process.pid)
    finally:
        process.terminate()
        process.wait()


def _wait(ready: Callable[[], bool], process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + _LONGEST_START_SECONDS
    while not ready():
        if process.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"{process.args!r} did not start")
        time.sleep(0.05)


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def postgres(folder: Path, *, core: int = LOAD_CORE) -> Iterator[str]:
    """Run a PostgreSQL of initdb's defaults, fsync on, on a core; yield the address of an empty database of it."""
    where = binaries()
    assert where is not None
    folder.mkdir()
    if os.geteuid() == 0:  # initdb refuses to run as root
        shutil.chown(folder, "postgres", "postgres")
        folder.parent.chmod(0o755)
    port, data = free_port(), str(folder / "data")
    _postgres(where, "initdb", "--pgdata", data, "--auth", "trust", "--username", "postgres", core=core)
    options = f"-p {port} -k {folder} -c listen_addresses=127.0.0.1"
    log = str(folder / "log")
    _postgres(where, "pg_ctl", "--pgdata", data, "--log", log, "--options", options, "--wait", "start", core=core)
    try:
        yield f"postgresql+asyncpg://postgres@127.0.0.1:{port}/postgres"
    finally:
        _postgres(where, "pg_ctl", "--pgdata", data, "--mode", "fast", "stop", core=core)


async def create_database(url: str, name: str) -> None:
    """Create a database on the server whose maintenance database is at `url`."""
    connection = await asyncpg.connect(url.replace("+asyncpg", ""))
    await connection.execute(f"CREATE DATABASE {name}")
    await connection.close()


def _postgres(where: Path, program: str, *arguments: str, core: int) -> None:
    as_postgres = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] if os.geteuid() == 0 else []
    command = [*as_postgres, str(where / program), *arguments]
    subprocess.run(command, stdout=subprocess.DEVNULL, cwd="/", check=True, preexec_fn=lambda: pin(core))
