"""`svc serve`: migrate the database, then serve HTTP requests."""

import asyncio
import logging
import os
import socket
import sqlite3
import sys
import time
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
import uvicorn
from asyncpg import InterfaceError, PostgresError
from uvicorn.config import STARTUP_FAILURE
from uvicorn.supervisors.multiprocess import Multiprocess, Process

import configuration
from cli import logs
from cli.admin import backup
from cli.admin import command as admin
from cli.connections import MOST_CONNECTIONS, Connection, Server, Worker
from cli.integrator.output import Failure, answering
from storage import migrations
from storage.access import workspaces
from storage.engine import copying, database, sqlite_file
from storage.engine.failures import chain
from web.build import VERSION

if sys.platform != "win32":
    import resource

ANY_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - looked up, not bound
WAITING_CONNECTIONS = 2048
PATIENCE_SECONDS = 4  # for running calls when the server stops; a call whose body never comes is then dropped
IDLE_SECONDS = 65  # longer than the 60 s for which proxies keep their connections by default
OTHER_FILES = 200
WORKER_SECONDS = 60  # for a worker to respond; starting one on a busy machine takes long
STOP_SECONDS = 8  # for a worker to stop, before it is killed: it has answered all calls by then
ONE_WRITER = "SQLite has one writer, so more workers would not make it faster."
_NO_ACCESS = {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH}
log = logging.getLogger(__name__)

Host = Annotated[str, typer.Option(help="The IP address to listen on; 0.0.0.0 for every network.")]
Port = Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 chooses a free one.")]
Workers = Annotated[
    int,
    typer.Option(min=1, max=64, help="Processes: more than one needs PostgreSQL, and Redis for rate limits."),
]


def command(host: Host = "127.0.0.1", port: Port = 8000, workers: Workers = 1) -> None:
    """Apply migrations, then serve the API."""
    with ExitStack() as held:
        with answering(as_json=False), admin.failures():
            logs.configure()
            log.info("version %s", VERSION)
            for name, meant in configuration.unknown().items():
                log.warning("no setting is called %s%s", name, f"; is {meant} meant?" if meant else "")
            database_url = admin.database_url()
            url = database.parse_url(database_url)
            if workers > 1 and database.is_sqlite(url):
                raise Failure("workers_need_postgresql", ONE_WRITER, "Use --workers 1, or PostgreSQL.")
            listening = held.enter_context(listen(host, port))
            config = configuration.load()
            first_port = config.metrics_port or 0
            for metrics_port in range(first_port, first_port + workers) if first_port else ():
                _bound(config.metrics_host, metrics_port, "serve metrics", "SVC_METRICS_PORT").close()
            migrate(database_url)
            if database.is_sqlite(url) and not held.enter_context(
                sqlite_file.hold_lock(database.file_of(url), alone=False)
            ):
                raise Failure("restore_running", "A backup is being restored.", "Start again afterwards.")
            if admin.write(copying.is_unfinished):
                message = "`svc admin copy` into this database was interrupted, so rows are missing."
                raise Failure("copy_unfinished", message, "Run the same command again, then start the service.")
            one_time = None if admin.read(workspaces.exist) else config.set_up_code()
        logs.echo(f"Serving on {address(listening)} (Ctrl-C stops it)")
        if one_time is not None:
            base_url = config.base_url
            logs.echo(f"Nothing is set up yet. Open {base_url}/set-up?code={one_time}")
            logs.echo(f"or open {base_url} and enter this code: {one_time}")
        run(listening, workers=workers)


def listen(host: str, port: int) -> socket.socket:
    """Bind the IP address and port, and set SVC_BASE_URL if it is unset. Raises Failure if they are in use."""
    listening = _bound(host, port, "listen", "--port")
    listening.set_inheritable(True)
    os.environ.setdefault("SVC_BASE_URL", address(listening))
    return listening


def _bound(host: str, port: int, purpose: str, option: str) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=WAITING_CONNECTIONS)
    except OSError as problem:
        message = f"Cannot {purpose} on {host}:{port}: {problem.strerror}"
        raise Failure("address_unavailable", message, f"Choose another {option}.") from None


def migrate(database_url: str) -> None:
    """Apply the migrations. Raises Failure that says what to do if the database cannot be used."""
    try:
        asyncio.run(migrations.upgrade(database_url, before=partial(backup.keep_copy, database_url)))
    except Exception as problem:
        url = database.parse_url(database_url)
        for error in chain(problem):
            if isinstance(error, sqlite3.Error):
                raise _unusable_file(error, database.file_of(url)) from None
            if isinstance(error, PostgresError | InterfaceError | OSError):
                reason = " ".join(str(error).split()) or type(error).__name__
                where = f"{url.host or 'localhost'}:{url.port or 5432}"
                message = f"PostgreSQL at {where} cannot be used: {reason.rstrip('.')}."
                raise Failure("database_unreachable", message, "Start it, or change SVC_DATABASE_URL.") from None
        raise


def _unusable_file(error: sqlite3.Error, path: Path) -> Failure:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if not path.parent.is_dir():
        message = f"The folder {path.parent} does not exist."
        hint = "Create it, or change SVC_DATABASE_URL."
    elif path.is_dir():
        message = f"{path} is a folder."
        hint = "Name a file in SVC_DATABASE_URL."
    elif code in _NO_ACCESS:
        message = f"This user may not write {path}."
        hint = f"Give it write permission for the file and for {path.parent}, or change SVC_DATABASE_URL."
    elif code == sqlite3.SQLITE_NOTADB:
        message = f"{path} is not a SQLite database."
        hint = "Change SVC_DATABASE_URL, or restore a backup with `svc admin restore FILE`."
    else:
        message = f"{path} cannot be used: {error}."
        hint = "Check the disk, or restore a backup."
    return Failure("database_error", message, hint)


def address(listening: socket.socket) -> str:
    """Return the http address under which this machine reaches the socket."""
    host, port = listening.getsockname()[:2]
    host = ANY_ADDRESS.get(host, host)
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def run(listening: socket.socket, *, workers: int = 1) -> None:
    """Serve `asgi:app` on the socket until a signal stops it; exits 3 if the app does not start."""
    most = MOST_CONNECTIONS  # or as many as the limit of open files allows
    if sys.platform != "win32":
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        needed = 2 * most + OTHER_FILES  # connections above the ceiling are open until they have got their 503
        files = max(soft, needed if hard == resource.RLIM_INFINITY else min(needed, hard))
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, hard))
        most = min(most, max(1, (files - OTHER_FILES) // 2))
    connection: Any = partial(Connection, most_connections=most)
    config = uvicorn.Config(
        "asgi:app",
        loop="auto" if sys.platform == "win32" else "uvloop",
        http=connection,
        workers=workers,
        log_config=logs.LOGGING,
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_keep_alive=IDLE_SECONDS,
        timeout_graceful_shutdown=PATIENCE_SECONDS,
    )
    with suppress(KeyboardInterrupt):
        if workers > 1:
            supervisor = Supervisor(config, sockets=[listening])
            supervisor.run()
            if any(worker.exitcode == STARTUP_FAILURE for worker in supervisor.processes):
                raise typer.Exit(STARTUP_FAILURE)
        else:
            server = Server(config)
            server.run(sockets=[listening])
            if not server.started:
                raise typer.Exit(STARTUP_FAILURE)


class Supervisor(Multiprocess):
    """uvicorn's supervisor of workers; it never waits for one, and logs each restart."""

    def __init__(self, config: uvicorn.Config, sockets: list[socket.socket]) -> None:
        super().__init__(config, sockets)
        self._heard_at: dict[int | None, float] = {}  # by the worker's process id

    def init_processes(self) -> None:
        self.processes = [self._started() for _ in range(self.processes_num)]

    def _started(self) -> Process:
        worker = Worker(self.config, self.sockets)
        worker.start()
        return worker

    def keep_subprocess_alive(self) -> None:
        """Replace the workers that ended or have not responded for a long time."""
        for number, worker in enumerate(self.processes):
            if self._responds(worker):
                continue
            worker.kill()
            worker.join()
            if worker.exitcode == STARTUP_FAILURE:  # the next one would fail, too
                self.should_exit.set()
                return
            self.processes[number] = self._started()
            log.warning("worker %s ended: worker %s takes its place", worker.pid, self.processes[number].pid)

    def _responds(self, worker: Process) -> bool:
        """Return whether a worker runs and has responded to the ping before in time; send the next ping."""
        now = time.monotonic()
        with suppress(OSError, EOFError):
            is_new = worker.pid not in self._heard_at
            if is_new or worker.parent_conn.poll():
                if not is_new:
                    worker.parent_conn.recv()
                self._heard_at[worker.pid] = now
                worker.parent_conn.send(b"ping")
        return worker.process.is_alive() and now - self._heard_at[worker.pid] < WORKER_SECONDS

    def join_all(self) -> None:
        """Wait for the workers to stop; end those that do not."""
        until = time.monotonic() + configuration.load().drain_seconds + STOP_SECONDS
        for worker in self.processes:
            worker.process.join(max(0, until - time.monotonic()))
            worker.process.kill()
            worker.join()
