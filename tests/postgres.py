"""A PostgreSQL server of the tests' own: found, started in a temporary folder, and stopped again."""

import asyncio
import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import asyncpg

DURABLE = "fsync = on\nautovacuum = on\n"  # as a server in use: its data is on a disk
ACTIVITY = "SELECT coalesce(to_regclass('citus_stat_activity'), 'pg_stat_activity')::text"
BLOCKED = "WHERE wait_event_type = 'Lock' AND datname = current_database()"
MEMORY, ROOM = Path("/dev/shm"), 4 * 1024**3
SETTINGS = "fsync = off\nautovacuum = off\nlisten_addresses = '127.0.0.1'\nmax_connections = 200\n"
ARCHIVED = "archive_mode = on\narchive_command = 'mkdir -p ../archive && cp %p ../archive/%f'\n"
RECOVERED = "restore_command = 'cp ../archive/%f %p'\nrecovery_target_action = promote\nhot_standby = off\n"


def binaries() -> Path | None:
    """Return the folder of the newest installed server binaries, or None, also where its client is not on the PATH."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: float(path.parts[4]))
    on_path = shutil.which("initdb")
    if found and shutil.which("psql"):
        return found[-1].parent
    return Path(on_path).parent if on_path else None


@dataclass(frozen=True)
class Server:
    """A running server: the address of its maintenance database, and the folders of its data and its programs."""

    url: str
    data: Path
    binaries: Path

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2].partition("/")[0])

    def set(self, settings: str) -> None:
        """Write settings, which it reads when it starts or reloads them."""
        with (self.data / "postgresql.conf").open("a") as written:
            written.write(settings)

    def control(self, *arguments: str) -> None:
        _run(self.binaries / "pg_ctl", "--pgdata", self.data, "--log", self.data.parent / "log", *arguments)

    def back_up(self, *options: str) -> Path:
        """Copy its data into a folder beside it while it runs, and return the folder."""
        copy = self.data.parent / "base"
        source = ("--host", "127.0.0.1", "--port", self.port, "--username", "postgres", "--checkpoint", "fast")
        _run(self.binaries / "pg_basebackup", *source, "--pgdata", copy, "--no-sync", *options)
        return copy

    def restore(self, copy: Path, *, to: datetime) -> None:
        """Put a copy in the place of its data, replay what it archived up to a point in time, and wait for that."""
        self.control("--mode", "fast", "stop")  # which archives the rest
        self.data.rename(self.data.with_name("before"))
        copy.rename(self.data)
        self.set(f"{RECOVERED}recovery_target_time = '{to.isoformat()}'\n")
        (self.data / "recovery.signal").touch()
        self.control("--wait", "start")
        asyncio.run(_accepting(self.url))


async def _accepting(url: str) -> None:
    """Wait until a server has replayed what it was told to: until then it accepts no connection."""
    while True:
        with suppress(asyncpg.CannotConnectNowError):
            async with connected(url):
                return


@contextmanager
def running(where: Path | None = None, settings: str = "") -> Iterator[Server]:
    """Run a server in a folder of its own, by default without fsync and with the newest installed binaries.

    The folder is not one of pytest's: every run of pytest closes those to other users,
    and root runs PostgreSQL as another.
    """
    where = where or binaries()
    assert where is not None
    with tempfile.TemporaryDirectory(prefix="svc-postgres-", dir="/tmp" if DURABLE in settings else memory()) as name:
        folder = Path(name)
        if os.geteuid() == 0:  # initdb refuses to run as root
            shutil.chown(folder, "postgres", "postgres")
        of_data = ("--pgdata", data := folder / "data")
        _run(where / "initdb", *of_data, "--auth", "trust", "--username", "postgres", "--encoding", "UTF8", "--no-sync")
        with _started(data, where, f"unix_socket_directories = '{folder}'\n{SETTINGS}{settings}") as server:
            yield server


@contextmanager
def _started(data: Path, where: Path, settings: str = "") -> Iterator[Server]:
    """Run a server over a folder of data, on a port of its own, until the block ends."""
    server = Server(f"postgresql+asyncpg://postgres@127.0.0.1:{free_port()}/postgres", data, where)
    server.set(f"port = {server.port}\n{settings}")
    server.control("--wait", "start")
    try:
        yield server
    finally:
        server.control("--mode", "immediate", "stop")


def memory() -> Path:
    """Return a folder in memory where there is room: a disk may take a second for a new database or for a commit."""
    return MEMORY if MEMORY.is_dir() and shutil.disk_usage(MEMORY).free >= ROOM else Path("/tmp")


@contextmanager
def standby_of(primary: Server) -> Iterator[Server]:
    """Run a streaming replica of a server; from then on a commit waits until the replica has applied it."""
    with _started(primary.back_up("--write-recovery-conf"), primary.binaries) as server:
        primary.set("synchronous_standby_names = '*'\nsynchronous_commit = remote_apply\n")
        primary.control("reload")
        yield server


@asynccontextmanager
async def connected(url: str) -> AsyncIterator[Any]:
    """Connect the driver alone to a database."""
    connection = await asyncpg.connect(url.replace("+asyncpg", ""))
    try:
        yield connection
    finally:
        await connection.close()


async def execute(url: str, *statements: str) -> None:
    """Run statements, each in a transaction of its own."""
    async with connected(url) as connection:
        for statement in statements:
            await connection.execute(statement)


async def until_blocked(url: str) -> None:
    """Wait until something waits for a lock that another transaction holds, on any node; for at most 20 seconds."""
    async with asyncio.timeout(20), connected(url) as watching:
        activity = await watching.fetchval(ACTIVITY)
        while not await watching.fetchval(f"SELECT count(*) FROM {activity} {BLOCKED}"):
            pass


async def create_database(server: str, name: str, template: str = "template1") -> str:
    copying = "STRATEGY FILE_COPY"  # half the work of the default, which logs every page
    await execute(server, f'CREATE DATABASE "{name}" TEMPLATE "{template}" {copying}')
    return named(server, name)


def named(server: str, name: str) -> str:
    return f"{server.rpartition('/')[0]}/{name}"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def _run(program: Path, *arguments: object) -> None:
    as_postgres = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] if os.geteuid() == 0 else []
    command = [*as_postgres, str(program), *map(str, arguments)]
    done = subprocess.run(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd="/", env=os.environ | {"HOME": "/"}, check=False
    )  # in the home folder of root, a server's own connections would look for certificates that it cannot read
    assert done.returncode == 0, done.stderr.decode()
