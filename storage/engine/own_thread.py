"""Runs a PostgreSQL connection on a thread of its own: what computes over its rows never holds up the event loop."""

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

from storage.engine.database import Lane, Work

Result = TypeVar("Result")


class OwnThread:
    """A lane whose transactions run on another thread's event loop, one after the other."""

    def __init__(self, lane: Lane) -> None:
        self._lane = lane
        self._turn = asyncio.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    async def run(self, work: Work[Result]) -> Result:
        """Run `work` in one transaction on the thread."""
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._thread = threading.Thread(target=self._loop.run_forever, name="reader", daemon=True)
            self._thread.start()
        return await self._there(self._run(work), self._loop)

    async def close(self) -> None:
        """Close the connection and end the thread."""
        if self._loop is None or self._thread is None:
            return
        await self._there(self._close(), self._loop)
        self._loop.call_soon_threadsafe(self._loop.stop)
        await asyncio.to_thread(self._thread.join)
        self._loop.close()
        self._loop = self._thread = None

    async def _there(self, coroutine: Coroutine[Any, Any, Result], loop: asyncio.AbstractEventLoop) -> Result:
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(coroutine, loop))

    async def _run(self, work: Work[Result]) -> Result:
        async with self._turn:  # a read whose caller went away may still be at work
            return await self._lane.run(work)

    async def _close(self) -> None:
        async with self._turn:
            await self._lane.close()
