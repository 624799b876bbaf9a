"""Servers that run as processes, shops above all, and what the service has recorded of these."""

import os
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import Connection, func, select

from storage.tables import leads, refunds, sales
from tests import postgres


def recorded(connection: Connection) -> list[int]:
    return [connection.scalar(select(func.count()).select_from(table)) or 0 for table in (leads, sales, refunds)]


class Running(NamedTuple):
    """A server that listens on a port."""

    port: int
    process: subprocess.Popen[bytes]


@contextmanager
def running(command: list[str], ready: str, *, cwd: Path, log: Path, **environment: str) -> Iterator[Running]:
    """Run a command until the block ends, in which PORT stands for a free port; it prints `ready` when it listens."""
    port = postgres.free_port()
    kept = {key: value for key, value in os.environ.items() if not key.startswith("SERVICE_")}
    with log.open("wb") as output:
        process = subprocess.Popen(
            [part.replace("PORT", str(port)) for part in command],
            cwd=cwd,
            env=kept | environment,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    try:
        _wait(process, log, ready)
        yield Running(port, process)
    finally:
        if process.poll() is None:  # a test may have ended it
            os.killpg(process.pid, signal.SIGTERM)  # PHP does not end its workers
        process.wait()


def _wait(process: subprocess.Popen[bytes], log: Path, ready: str) -> None:
    while not re.search(ready, printed := log.read_text(encoding="utf-8", errors="replace")):
        try:
            process.wait(timeout=0.05)
        except subprocess.TimeoutExpired:
            continue
        raise AssertionError(f"{process.args!r} did not start:\n{printed}")
