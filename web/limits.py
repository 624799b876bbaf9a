"""Rate limits through the `limits` package: how many calls of a kind one caller may make about one thing."""

import math
import time
from collections.abc import Mapping

from limits import RateLimitItem, parse

from storage.rules.errors import RateLimited
from web.counts import Counts


class RateLimits:
    """The rates of some kinds of calls, over counts that the whole process shares.

    `rates` names each kind of call, with its rate in the notation of the `limits` package; None never refuses.
    """

    def __init__(self, rates: Mapping[str, str | None], counts: Counts) -> None:
        self._rates = {call: _parse(rate) for call, rate in rates.items()}
        self._counts = counts

    async def hit(self, call: str, client: str, about: int | str | None = None) -> None:
        """Count one call by a client about something. Raises RateLimited, with the seconds until the window turns."""
        rate = self._rates[call]
        resets_at = await self._counts.hit(rate, call, client, str(about)) if rate else None
        if resets_at is not None:
            raise RateLimited(retry_after_seconds=max(1, math.ceil(resets_at - time.time())))

    async def forget(self, call: str, client: str, about: int | str | None = None) -> None:
        """Forget the calls that were counted."""
        rate = self._rates[call]
        if rate is not None:
            await self._counts.clear(rate, call, client, str(about))


def _parse(rate: str | None) -> RateLimitItem | None:
    return parse(rate) if rate else None
