"""The queue of password hashes: each takes a thread and 19 MiB, so a few run at a time and clients take turns.

Overloaded is raised beyond the bounds: a client that floods the queue delays itself, not the others.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import TypeVar

import anyio.to_thread
from starlette.requests import Request

from storage.rules.errors import Overloaded
from web.limits import network_of

RUNNING = 2
LONGEST_OF_CLIENT = 64
LONGEST = 256
Result = TypeVar("Result")


class PasswordQueue:
    """Runs work on threads, a few at a time; waiting clients take turns, whatever each of them sends."""

    def __init__(self) -> None:
        self._threads: anyio.CapacityLimiter | None = None  # made in the event loop
        self._free = RUNNING
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}  # by client; the first has the next turn

    async def run(self, client: str, work: Callable[[], Result]) -> Result:
        """Return what the work returns. Raises Overloaded if too much waits, of this client or in all."""
        if self._threads is None:
            self._threads = anyio.CapacityLimiter(RUNNING)
        await self._wait(client)
        try:
            return await anyio.to_thread.run_sync(work, limiter=self._threads)
        finally:
            self._pass_on()

    async def _wait(self, client: str) -> None:
        if self._free:
            self._free -= 1
            return
        if len(self._waiting.get(client, ())) >= LONGEST_OF_CLIENT or sum(map(len, self._waiting.values())) >= LONGEST:
            raise Overloaded(retry_after_seconds=1)
        turn = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(client, deque()).append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():  # it was this one's turn already
                self._pass_on()
            raise

    def _pass_on(self) -> None:
        """Give the turn to the next client, whose further work waits behind the other clients'."""
        while self._waiting:
            client = next(iter(self._waiting))
            queue = self._waiting.pop(client)
            turn = queue.popleft()
            if queue:
                self._waiting[client] = queue
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1


async def hashed(request: Request, work: Callable[[], Result]) -> Result:
    """Return the result of work with a password's hash, in the client's turn. Raises Overloaded."""
    queue: PasswordQueue = request.app.state.passwords
    return await queue.run(network_of(request), work)
