"""The counts of the rate limits: in this process, or in Redis for several processes while Redis responds."""

import asyncio
import logging
import time
from collections import OrderedDict, defaultdict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from limits import RateLimitItem
from limits.aio.strategies import FixedWindowRateLimiter

MOST_WINDOWS = 100_000  # of one length in this process; beyond them the oldest is forgotten
LONGEST_WAIT_SECONDS = 0.25  # for Redis
PAUSE_SECONDS = 5.0  # without a request to Redis after it failed
Result = TypeVar("Result")
Subject = tuple[str, ...]
log = logging.getLogger(__name__)


class Counts:
    """Counts requests in fixed windows. While Redis is down or slow, each process counts alone."""

    def __init__(self, redis_url: str | None = None, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._local = Windows()
        self._pool: Any = None
        self._limiter: FixedWindowRateLimiter | None = None
        if redis_url:  # the imports take 0.1 s, and few servers have Redis
            from limits.aio.storage import RedisStorage  # noqa: PLC0415
            from redis.asyncio import ConnectionPool  # noqa: PLC0415
            from redis.asyncio.retry import Retry  # noqa: PLC0415
            from redis.backoff import NoBackoff  # noqa: PLC0415

            self._pool = ConnectionPool.from_url(redis_url, retry=Retry(NoBackoff(), 0))
            options: dict[str, Any] = {"connection_pool": self._pool}  # documented by `limits`, but not in its types
            storage = RedisStorage("async+redis://", implementation="redispy", **options)
            self._limiter = FixedWindowRateLimiter(storage)
        self._clock = clock  # in seconds: when Redis is tried again
        self._failed = False
        self._retry_at = clock()

    async def hit(self, rate: RateLimitItem, *subject: str, is_counted: bool = True) -> float | None:
        """Count one request. Return None if the rate allows it, else the time at which the window ends."""
        alone = self._local.hit if is_counted else self._local.full_until
        if self._limiter is None:
            return alone(rate, subject)

        async def count(limiter: FixedWindowRateLimiter) -> float | None:
            is_allowed = await (limiter.hit if is_counted else limiter.test)(rate, *subject)
            return None if is_allowed else (await limiter.get_window_stats(rate, *subject)).reset_time

        return await self._ask(count, lambda: alone(rate, subject))

    async def clear(self, rate: RateLimitItem, *subject: str) -> None:
        await self._ask(lambda limiter: limiter.clear(rate, *subject), lambda: self._local.clear(rate, subject))

    async def aclose(self) -> None:
        if self._pool is not None:
            await self._pool.disconnect()

    async def _ask(
        self, shared: Callable[[FixedWindowRateLimiter], Awaitable[Result]], alone: Callable[[], Result]
    ) -> Result:
        """Return the result of work in Redis, or in this process alone without Redis and while it does not respond."""
        if self._limiter is None or self._clock() < self._retry_at:
            return alone()
        if self._failed:
            self._retry_at = self._clock() + PAUSE_SECONDS  # only this request tries whether Redis is back
        try:
            async with asyncio.timeout(LONGEST_WAIT_SECONDS):
                result = await shared(self._limiter)
        except Exception as error:  # noqa: BLE001 - a Redis that answers nonsense raises anything
            self._retry_at = self._clock() + PAUSE_SECONDS
            if not self._failed:
                log.warning("Redis does not respond (%r): this process counts rate limits alone until it does", error)
            self._failed = True
            return alone()
        self._retry_at = self._clock()
        if self._failed:
            log.warning("Redis responds again: processes share their rate limits")
        self._failed = False
        return result


@dataclass(slots=True)
class _Window:
    ends_at: float
    count: int = 0


class Windows:
    """The requests of each subject, in a window that begins with the first of them, counted as `Counts` says."""

    # The memory storage of `limits` looks at all subjects for nearly every request.
    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._by_length: defaultdict[int, OrderedDict[Subject, _Window]] = defaultdict(OrderedDict)  # the oldest first

    def hit(self, rate: RateLimitItem, subject: Subject) -> float | None:
        seconds, now = rate.get_expiry(), self._clock()
        windows = self._by_length[seconds]
        window = windows.get(subject)
        if window is None or window.ends_at <= now:
            windows.pop(subject, None)  # one that ended; the new one goes behind all others
            if len(windows) >= MOST_WINDOWS:
                windows.popitem(last=False)
            window = windows[subject] = _Window(now + seconds)
        window.count += 1
        return window.ends_at if window.count > rate.amount else None

    def full_until(self, rate: RateLimitItem, subject: Subject) -> float | None:
        window = self._by_length[rate.get_expiry()].get(subject)
        if window is None or window.count < rate.amount or window.ends_at <= self._clock():
            return None
        return window.ends_at

    def clear(self, rate: RateLimitItem, subject: Subject) -> None:
        self._by_length[rate.get_expiry()].pop(subject, None)
