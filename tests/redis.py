"""A Redis server of our own for a test."""

import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tests import postgres


class RedisServer(NamedTuple):
    process: subprocess.Popen[str]
    port: int

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}"


@contextmanager
def running(folder: Path) -> Iterator[RedisServer]:
    server = started(folder, postgres.free_port())
    with server.process:
        try:
            yield server
        finally:
            server.process.send_signal(signal.SIGCONT)
            server.process.terminate()


def started(folder: Path, port: int) -> RedisServer:
    """Start a Redis on a port, and return it when it is ready."""
    command = ["redis-server", "--port", str(port), "--save", "", "--dir", str(folder)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert any("Ready to accept connections" in line for line in process.stdout)
    return RedisServer(process, port)
