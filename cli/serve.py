"""`svc serve`: migrate the database, then answer HTTP."""

import asyncio
import os
import socket
import sys
from contextlib import suppress
from typing import Annotated

import typer
import uvicorn
from uvicorn.supervisors import Multiprocess

from cli import logs
from cli.admin import command as admin
from storage import migrations

ANY_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - looked up, not bound
WAITING_CONNECTIONS = 2048
PATIENCE_SECONDS = 4  # for calls in flight when told to stop; one whose body never comes is then dropped

Host = Annotated[str, typer.Option(help="The address to listen on; 0.0.0.0 for every network.")]
Port = Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 takes a free one.")]
Workers = Annotated[int, typer.Option(min=1, max=64, help="Processes; rate limits then want SVC_REDIS_URL.")]


def command(host: Host = "127.0.0.1", port: Port = 8000, workers: Workers = 1) -> None:
    """Serve the API; migrations are applied first.

    SVC_DATABASE_URL names the database (default: svc.db in this folder), SVC_BASE_URL the public address.

    Example:
      svc serve --host 0.0.0.0 --port 8000

    """
    with admin.answering(as_json=False):
        logs.configure()
        database_url = admin.database_url()
        listening = listen(host, port)
        asyncio.run(migrations.upgrade(database_url))
    print(f"Serving on {address(listening)} (Ctrl-C stops it)", flush=True)  # noqa: T201 - the command's output
    run(listening, workers=workers)


def listen(host: str, port: int) -> socket.socket:
    """Take the address, and make it SVC_BASE_URL where that is unset. Raises CommandError if it is taken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listening = socket.create_server((host, port), family=family, backlog=WAITING_CONNECTIONS)
    except OSError as problem:
        raise admin.CommandError(
            "address_unavailable", f"Cannot listen on {host}:{port}: {problem.strerror}", "Choose another --port."
        ) from None
    listening.set_inheritable(True)
    os.environ.setdefault("SVC_BASE_URL", address(listening))
    return listening


def address(listening: socket.socket) -> str:
    """Return the http address under which this machine reaches the socket."""
    host, port = listening.getsockname()[:2]
    host = ANY_ADDRESS.get(host, host)
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def run(listening: socket.socket, *, workers: int = 1) -> None:
    """Serve `asgi:app` on the socket until a signal stops it; exits 3 if the app does not start."""
    config = uvicorn.Config(
        "asgi:app",
        loop="auto" if sys.platform == "win32" else "uvloop",
        http="httptools",
        workers=workers,
        log_config=logs.LOGGING,
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=PATIENCE_SECONDS,
    )
    with suppress(KeyboardInterrupt):
        if workers > 1:
            Multiprocess(config, sockets=[listening]).run()
        else:
            server = uvicorn.Server(config)
            server.run(sockets=[listening])
            if not server.started:
                raise typer.Exit(3)
