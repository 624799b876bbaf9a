"""Rate limits through the `limits` package: how many requests a client may send for one account, program or key."""

import math
import time
from collections.abc import Mapping

from limits import RateLimitItem, parse

from storage.rules.errors import RateLimited
from web.counts import Counts
from web.network import network


class RateLimits:
    """The rates of some kinds of requests, over counts that the whole process shares.

    `rates` names each kind of request, with its rate in the notation of the `limits` package; None means no limit.
    """

    def __init__(self, rates: Mapping[str, str | None], counts: Counts) -> None:
        self._rates = {kind: _parse(rate) for kind, rate in rates.items()}
        self._counts = counts

    async def hit(self, kind: str, client: str, about: int | str | None = None) -> None:
        """Count one request by a client about something. Raises RateLimited, with the seconds until the window ends."""
        rate = self._rates[kind]
        if rate is not None:
            _require(await self._counts.hit(rate, kind, network(client), str(about)))

    async def check(self, kind: str, client: str, about: int | str | None = None) -> None:
        """Raise RateLimited if no further request is allowed, without counting one."""
        rate = self._rates[kind]
        if rate is not None:
            _require(await self._counts.full_until(rate, kind, network(client), str(about)))

    async def forget(self, kind: str, client: str, about: int | str | None = None) -> None:
        """Forget the requests that were counted."""
        rate = self._rates[kind]
        if rate is not None:
            await self._counts.clear(rate, kind, network(client), str(about))


def _require(resets_at: float | None) -> None:
    if resets_at is not None:
        raise RateLimited(retry_after_seconds=max(1, math.ceil(resets_at - time.time())))


def _parse(rate: str | None) -> RateLimitItem | None:
    return parse(rate) if rate else None
