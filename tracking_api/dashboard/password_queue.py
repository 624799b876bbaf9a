"""The queue of password hashes: each takes a thread and 19 MiB, so a few run at a time and clients take turns.

Overloaded is raised beyond the bounds: a client that floods the queue delays itself, not the others.
"""

from asyncio import Semaphore
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import TypeVar

import anyio.to_thread
from starlette.requests import Request

from storage.access import passwords
from storage.rules.errors import Overloaded
from web.limits import network_of

RUNNING = 2
LONGEST_OF_CLIENT = 16
LONGEST = 64  # a hash takes 0.04 s of a core, and three times as long on a busy one
Result = TypeVar("Result")


class PasswordQueue:
    """Runs work on threads, a few at a time. No client has more than these few in line; its further work waits."""

    def __init__(self) -> None:
        self._threads = anyio.CapacityLimiter(RUNNING)  # first come, first served
        self.of_known = anyio.CapacityLimiter(1)
        self._places: dict[str, Semaphore] = {}  # by client
        self._entered: Counter[str] = Counter()  # by client: what runs or waits

    async def run(self, client: str, work: Callable[[], Result]) -> Result:
        """Return what the work returns. Raises Overloaded if too much waits, of this client or in all."""
        if self._entered[client] >= RUNNING + LONGEST_OF_CLIENT or self._entered.total() >= RUNNING + LONGEST:
            raise Overloaded(retry_after_seconds=1)
        self._entered[client] += 1
        try:
            async with self._places.setdefault(client, Semaphore(RUNNING)):
                return await anyio.to_thread.run_sync(work, limiter=self._threads)
        finally:
            self._entered[client] -= 1
            if not self._entered[client]:
                del self._entered[client], self._places[client]


async def hashed(request: Request, work: Callable[[], Result], *, is_known: bool = False) -> Result:
    """Return the result of work with a hash; known devices do not wait for strangers. Raises Overloaded."""
    queue: PasswordQueue = request.app.state.passwords
    if is_known:
        return await anyio.to_thread.run_sync(work, limiter=queue.of_known)
    return await queue.run(network_of(request), work)


async def hash_of_new(request: Request, password: str, *, email: str) -> str:
    """Return the hash of an account's new password. Raises ValidationError if it is weak, Overloaded."""
    return await hashed(request, partial(passwords.protect_new, password, email=email, field="new_password"))
