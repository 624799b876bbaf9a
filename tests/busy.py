"""Reads that keep every reading connection busy for as long as a test needs them to."""

import asyncio
import threading
from typing import Self

from sqlalchemy import Connection, text

from storage import Storage
from storage.engine.database import READERS


def one(connection: Connection) -> int:
    return int(connection.execute(text("SELECT 1")).scalar_one())


class Busy:
    """Reads that keep every reading connection busy until they are let go."""

    def __init__(self, store: Storage) -> None:
        self._store = store
        self._started = threading.Semaphore(0)
        self._let_go = threading.Event()

    def _hold(self, connection: Connection) -> int:
        found = one(connection)
        self._started.release()
        assert self._let_go.wait(30)
        return found

    async def __aenter__(self) -> Self:
        self.reads = [asyncio.ensure_future(self._store.read(self._hold)) for _ in range(READERS)]
        for _ in self.reads:
            assert await asyncio.to_thread(self._started.acquire, timeout=30)
        return self

    async def __aexit__(self, *_: object) -> None:
        self.let_go()
        await asyncio.wait(self.reads)

    def let_go(self) -> None:
        self._let_go.set()
