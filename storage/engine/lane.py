"""A lane is one connection that runs functions in transactions, one after the other, here or on its own thread."""

import asyncio
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from sqlalchemy import Connection

from storage.engine.postgres_lane import PostgresLane
from storage.engine.sqlite_lane import SqliteLane
from storage.rules.errors import Overloaded

Result = TypeVar("Result")
Work = Callable[[Connection], Result]
CLOSE_SECONDS = 1.0


class OwnThread:
    """A PostgreSQL lane on another thread's event loop, so that computing over rows never blocks the service's own."""

    def __init__(self, lane: PostgresLane) -> None:
        self._lane = lane
        self._turn = asyncio.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._at_work: asyncio.Task[Any] | None = None
        self._is_closing = False

    async def run(self, work: Work[Result]) -> Result:
        """Run `work` in one transaction on the thread. Raises Overloaded once the lane closes."""
        if self._is_closing:  # a thread that ends would never return the result
            raise Overloaded(retry_after_seconds=1)
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._thread = threading.Thread(target=self._loop.run_forever, name="reader", daemon=True)
            self._thread.start()
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(self._run(work), self._loop))

    async def close(self) -> None:
        """Close the connection and end the thread; a running read gets one second."""
        self._is_closing = True
        if self._loop is None or self._thread is None:
            return
        await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(self._close(), self._loop))
        self._loop.call_soon_threadsafe(self._loop.stop)
        await asyncio.to_thread(self._thread.join, CLOSE_SECONDS)
        if not self._thread.is_alive():
            self._loop.close()
        self._loop = self._thread = None

    async def _run(self, work: Work[Result]) -> Result:
        async with self._turn:  # a read whose caller left may still run
            self._at_work = asyncio.current_task()
            try:
                return await self._lane.run(work)
            finally:
                self._at_work = None

    async def _close(self) -> None:
        if self._at_work is not None:
            await asyncio.wait([self._at_work], timeout=CLOSE_SECONDS)
        if self._at_work is not None:
            self._at_work.cancel()
        async with self._turn:
            await self._lane.close()


WriteLane = PostgresLane | SqliteLane  # its `write` looks up whether a transaction committed
Lane = WriteLane | OwnThread
