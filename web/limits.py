"""Rate limits through the `limits` package: how many calls of a kind one caller may make about one thing."""

import math
import time
from collections.abc import Mapping

from limits import RateLimitItem, parse
from limits.aio.storage import MemoryStorage, RedisStorage
from limits.aio.strategies import FixedWindowRateLimiter

from storage.rules.errors import RateLimited


class RateLimits:
    """Counts in memory for one process, in Redis for several.

    `rates` names each kind of call, with its rate in the notation of the `limits` package; None never refuses.
    """

    def __init__(self, rates: Mapping[str, str | None], redis_url: str | None) -> None:
        storage = RedisStorage(f"async+{redis_url}", implementation="redispy") if redis_url else MemoryStorage()
        self._limiter = FixedWindowRateLimiter(storage)
        self._rates = {call: _parse(rate) for call, rate in rates.items()}

    async def hit(self, call: str, client: str, about: int | str | None = None) -> None:
        """Count one call by a client about something. Raises RateLimited, with the seconds until the window turns."""
        rate = self._rates[call]
        if rate is None:
            return
        subject = (call, client, str(about))
        if not await self._limiter.hit(rate, *subject):
            resets_at, _ = await self._limiter.get_window_stats(rate, *subject)
            raise RateLimited(retry_after_seconds=max(1, math.ceil(resets_at - time.time())))

    async def forget(self, call: str, client: str, about: int | str | None = None) -> None:
        """Forget the calls that were counted."""
        rate = self._rates[call]
        if rate is not None:
            await self._limiter.clear(rate, call, client, str(about))


def _parse(rate: str | None) -> RateLimitItem | None:
    return parse(rate) if rate else None
