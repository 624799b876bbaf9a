"""Counts of requests in fixed windows, in this process alone."""

import time
from collections import OrderedDict, defaultdict
from collections.abc import Callable
from dataclasses import dataclass

from limits import RateLimitItem

MOST_WINDOWS = 100_000  # of one length; beyond them the oldest is forgotten
Subject = tuple[str, ...]


@dataclass(slots=True)
class _Window:
    ends_at: float
    count: int = 0


_Windows = OrderedDict[Subject, _Window]  # of one length: the oldest ends first


class Windows:
    """The requests of each subject, in a window that begins with the first of them.

    A count costs the same however many subjects there are, which the memory storage of `limits` does not offer: it
    looks at all of them for nearly every request. `clock` returns seconds since 1970.
    """

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._by_length: defaultdict[int, _Windows] = defaultdict(OrderedDict)

    def hit(self, rate: RateLimitItem, subject: Subject) -> float | None:
        """Count one request. Return None if the rate allows it, else the time at which the window ends."""
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
        """Return None if the rate allows one more request, else the time at which the window ends."""
        window = self._by_length[rate.get_expiry()].get(subject)
        if window is None or window.count < rate.amount or window.ends_at <= self._clock():
            return None
        return window.ends_at

    def clear(self, rate: RateLimitItem, subject: Subject) -> None:
        """Forget the requests that were counted."""
        self._by_length[rate.get_expiry()].pop(subject, None)
