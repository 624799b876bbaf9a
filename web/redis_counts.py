"""Counts in Redis: a module of its own, since importing its client takes 0.1 s that only servers with Redis need."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from limits.aio.storage import RedisStorage
from limits.aio.strategies import FixedWindowRateLimiter
from redis.asyncio import ConnectionPool
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

LONGEST_WAIT_SECONDS = 0.25
Result = TypeVar("Result")


class RedisCounts:
    """Fixed windows in Redis."""

    def __init__(self, url: str) -> None:
        self._pool = ConnectionPool.from_url(url, retry=Retry(NoBackoff(), 0))
        options: dict[str, Any] = {"connection_pool": self._pool}  # documented by `limits`, but not in its types
        storage = RedisStorage("async+redis://", implementation="redispy", **options)
        self._limiter = FixedWindowRateLimiter(storage)

    async def run(self, work: Callable[[FixedWindowRateLimiter], Awaitable[Result]]) -> Result:
        """Return the result of work in Redis. Raises OSError if it does not respond in time, or as Redis does."""
        try:
            async with asyncio.timeout(LONGEST_WAIT_SECONDS):
                return await work(self._limiter)
        except (RedisError, TypeError, ValueError) as error:
            raise ConnectionError(repr(error)) from error

    async def aclose(self) -> None:
        """Close the connections."""
        await self._pool.disconnect()
