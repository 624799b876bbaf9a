"""The servers under load, each a process of its own pinned to a core, and the databases that they run over."""

import asyncio
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

from tests import postgres  # the tests find and place a server in the same way

ROOT = Path(__file__).parent.parent
SERVER_CORE, LOAD_CORE = 0, 1
SQLITE, POSTGRESQL = "SQLite", "PostgreSQL"
RATES = {f"SVC_{name}_RATE": "1000000000/minute" for name in ("PUBLIC", "CLICK", "LEAD", "KEYED", "MCP")}
UVICORN = ("--loop=uvloop", "--http=httptools", "--no-access-log", "--no-server-header", "--log-level=warning")


class Server(NamedTuple):
    """A running server: where it listens and its process."""

    port: int
    pid: int


class Databases(NamedTuple):
    """Creates empty databases, by their name, and the processes that hold them, none for SQLite."""

    create: Callable[[str], Awaitable[str]]
    pids: list[int]


def pin(core: int) -> None:
    """Keep this process on a core, where the system can do that and has more than one."""
    if hasattr(os, "sched_setaffinity") and (os.cpu_count() or 1) > 1:
        os.sched_setaffinity(0, {core})


@contextmanager
def running(app: str, url: str = "") -> Iterator[Server]:
    """Run the service as `svc serve` does it, or an app of this folder (`ceilings:bare`)."""
    command = ("cli", "serve") if app == "service" else ("uvicorn", f"benchmarks.{app}", *UVICORN)
    port = postgres.free_port()
    process = subprocess.Popen(
        [sys.executable, "-m", *command, "--port", str(port)],
        cwd=ROOT,
        env={**os.environ, **RATES, "SVC_RATE_LIMIT": "on", "SVC_DATABASE_URL": url},
        stdout=subprocess.DEVNULL,
        preexec_fn=lambda: pin(SERVER_CORE),  # noqa: PLW1509 - this process has no second thread yet that holds a lock
    )
    try:
        while not _listens(port):
            if process.poll() is not None:
                raise RuntimeError(f"{command} did not start")
            time.sleep(0.05)
        yield Server(port, process.pid)
    finally:
        process.terminate()
        process.wait()


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def databases(on: str) -> Iterator[Databases]:
    """Give new databases: files, or those of a PostgreSQL server on the load's core."""
    if on == SQLITE:
        with tempfile.TemporaryDirectory(prefix="svc-bench-") as folder:
            yield Databases(lambda name: asyncio.sleep(0, f"sqlite+aiosqlite:///{folder}/{name}.db"), [])
    else:
        with postgres.running(settings=postgres.DURABLE) as server:
            yield Databases(partial(create_database, server), [postmaster(server)])


async def create_database(server: postgres.Server, name: str) -> str:
    await postgres.execute(server.url, f"CREATE DATABASE {name}")
    return f"{server.url.rpartition('/')[0]}/{name}"


def postmaster(server: postgres.Server) -> int:
    return int((server.data / "postmaster.pid").read_text(encoding="ascii").split()[0])
