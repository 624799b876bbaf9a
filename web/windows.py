"""Counts of requests in fixed windows, in this process alone."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from cachetools import FIFOCache
from limits import RateLimitItem

MOST_WINDOWS = 100_000  # of one length; beyond them the oldest is forgotten
Subject = tuple[str, ...]


@dataclass(slots=True)
class _Window:
    ends_at: float
    count: int = 0


class Windows:
    """The requests of each subject, in a window that begins with the first of them.

    A count costs the same however many subjects there are, which the memory storage of `limits` does not offer: it
    looks at all of them for nearly every request. `clock` returns seconds since 1970.
    """

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._by_length: dict[int, FIFOCache[Subject, _Window]] = {}

    def hit(self, rate: RateLimitItem, subject: Subject) -> float | None:
        """Count one request. Return None if the rate allows it, else the time at which the window ends."""
        windows = self._of(rate)
        now = self._clock()
        window = self._open(windows, subject, now)
        if window is None:
            window = windows[subject] = _Window(now + rate.get_expiry())
        window.count += 1
        return window.ends_at if window.count > rate.amount else None

    def full_until(self, rate: RateLimitItem, subject: Subject) -> float | None:
        """Return None if the rate allows one more request, else the time at which the window ends."""
        window = self._open(self._of(rate), subject, self._clock())
        return window.ends_at if window is not None and window.count >= rate.amount else None

    def clear(self, rate: RateLimitItem, subject: Subject) -> None:
        """Forget the requests that were counted."""
        self._of(rate).pop(subject, None)

    def _of(self, rate: RateLimitItem) -> FIFOCache[Subject, _Window]:
        seconds = rate.get_expiry()
        windows = self._by_length.get(seconds)
        if windows is None:
            windows = self._by_length[seconds] = FIFOCache(MOST_WINDOWS)  # of one length: the oldest ends first
        return windows

    def _open(self, windows: FIFOCache[Subject, _Window], subject: Subject, now: float) -> _Window | None:
        try:
            window = windows[subject]
        except KeyError:
            return None
        return window if window.ends_at > now else None
