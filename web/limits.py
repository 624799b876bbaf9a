"""Rate limits through the `limits` package: how many requests a client may send for one account, program or key."""

import math
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from ipaddress import IPv6Address, IPv6Network

from limits import parse_many
from starlette.requests import Request
from starlette.types import Scope

from storage.rules import keys
from storage.rules.errors import ExpiredToken, InvalidKey, InvalidSignature, RateLimited, SlowDown, WrongKeyType
from web.counts import Counts

REJECTED = "rejected"
MOST_KNOWN = 10_000
PREFIX_BITS = 64  # of IPv6: one customer's network


class RateLimits:
    """The rates of kinds of requests in the notation of `limits` (None: no limit), over the process's counts."""

    def __init__(self, rates: Mapping[str, str | None], counts: Counts) -> None:
        self._rates = {kind: parse_many(rate) if rate else [] for kind, rate in rates.items()}
        self._counts = counts
        self._known: set[str] = set()  # hashes of keys that worked: they pass beside an address's invented ones

    async def hit(self, kind: str, client: str, about: int | str | None = None, *, is_counted: bool = True) -> None:
        """Count one request by a client about something. Raises RateLimited, with the seconds until the window ends."""
        subject = (kind, network(client), str(about))
        ends_at = 0.0
        for rate in self._rates[kind]:
            if (resets_at := await self._counts.hit(rate, *subject, is_counted=is_counted)) is not None:
                ends_at = max(ends_at, resets_at)
        if ends_at:
            raise RateLimited(retry_after_seconds=max(1, math.ceil(ends_at - time.time())))

    async def check(self, kind: str, client: str, about: int | str | None = None) -> None:
        """Raise RateLimited if no further request is allowed, without counting one."""
        await self.hit(kind, client, about, is_counted=False)

    async def forget(self, kind: str, client: str, about: int | str | None = None) -> None:
        for each in self._rates[kind]:
            await self._counts.clear(each, kind, network(client), str(about))

    @asynccontextmanager
    async def guessing(self, client: str, key: str | None = None) -> AsyncIterator[bool]:
        """Count the block if its credential is invalid; yield whether the key worked before. Raises RateLimited."""
        known = keys.digest(key) if key else ""
        if known not in self._known:
            await self.check(REJECTED, client)
        try:
            yield known in self._known
        except (InvalidKey, WrongKeyType, InvalidSignature, ExpiredToken, SlowDown):
            self._known.discard(known)
            await self.hit(REJECTED, client)
            raise
        if known:
            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
            self._known.add(known)


def network_of(request: Request) -> str:
    """Return the client's IPv4 address, or the /64 of its IPv6 address: what limits count as one client."""
    return network(client_of(request.scope))


def client_of(scope: Scope) -> str:
    """Return the client's IP address."""
    return str(scope["client"][0]) if scope.get("client") else "unknown"


def network(host: str) -> str:
    """Return an IPv4 address as it is, the /64 of an IPv6 address, and any other name as it is."""
    if ":" not in host:
        return host
    try:
        address = IPv6Address(host)
    except ValueError:
        return host
    return str(address.ipv4_mapped or IPv6Network((int(address), PREFIX_BITS), strict=False))
