"""Rate limits of the public calls, by client address and program, through the `limits` package."""

import math
import time

from limits import RateLimitItem, parse
from limits.aio.storage import MemoryStorage, RedisStorage
from limits.aio.strategies import FixedWindowRateLimiter

from storage.rules.errors import RateLimited
from tracking_api.settings import Settings


class RateLimits:
    """Counts in memory for one process, in Redis for several. A rate of None never refuses."""

    def __init__(self, settings: Settings) -> None:
        redis = settings.redis_url
        storage = RedisStorage(f"async+{redis}", implementation="redispy") if redis else MemoryStorage()
        self._limiter = FixedWindowRateLimiter(storage)
        self._rates = {
            "click": _parse(settings.click_rate),
            "lead": _parse(settings.lead_rate),
            "login": _parse(settings.login_rate),
        }

    async def hit(self, call: str, client: str, about: int | str | None) -> None:
        """Count one call about a program or an account. Raises RateLimited, with the seconds until the window turns."""
        rate = self._rates[call]
        if rate is None:
            return
        subject = (call, client, str(about))
        if not await self._limiter.hit(rate, *subject):
            resets_at, _ = await self._limiter.get_window_stats(rate, *subject)
            raise RateLimited(retry_after_seconds=max(1, math.ceil(resets_at - time.time())))

    async def forget(self, call: str, client: str, about: int | str | None) -> None:
        """Forget the calls that were counted."""
        rate = self._rates[call]
        if rate is not None:
            await self._limiter.clear(rate, call, client, str(about))


def _parse(rate: str | None) -> RateLimitItem | None:
    return parse(rate) if rate else None
