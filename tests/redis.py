"""A Redis server of our own for a test."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests import shops


class RedisServer(shops.Running):
    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}"


@contextmanager
def running(folder: Path) -> Iterator[RedisServer]:
    command = ["redis-server", "--port", "PORT", "--save", ""]
    with shops.running(command, "Ready to accept connections", cwd=folder, log=folder / "redis.log") as server:
        try:
            yield RedisServer(*server)
        finally:
            server.process.send_signal(signal.SIGCONT)
