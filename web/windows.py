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
        windows = self._by_length[rate.get_expiry()]
        now = self._clock()
        window = self._open(windows, subject, now)
        if window is None:
            windows.pop(subject, None)  # one that ended; the new one goes behind all others
            if len(windows) >= MOST_WINDOWS:
                windows.popitem(last=False)
            window = windows[subject] = _Window(now + rate.get_expiry())
        window.count += 1
        return window.ends_at if window.count > rate.amount else None

    def full_until(self, rate: RateLimitItem, subject: Subject) -> float | None:
        """Return None if the rate allows one more request, else the time at which the window ends."""
        window = self._open(self._by_length[rate.get_expiry()], subject, self._clock())
        return window.ends_at if window is not None and window.count >= rate.amount else None

    def clear(self, rate: RateLimitItem, subject: Subject) -> None:
        """Forget the requests that were counted."""
        self._by_length[rate.get_expiry()].pop(subject, None)

    def _open(self, windows: _Windows, subject: Subject, now: float) -> _Window | None:
        window = windows.get(subject)
        return window if window is not None and window.ends_at > now else None
