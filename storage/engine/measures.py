"""What each lane measures: plain numbers that cost a batch about a microsecond, and that a scrape reads."""

from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256)


class Histogram:
    """Counts values by upper bounds; the last count is of those above every bound."""

    __slots__ = ("bounds", "counts", "total")

    def __init__(self, bounds: Sequence[float]) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.total = 0.0

    def add(self, value: float) -> None:
        """Count a value."""
        self.counts[bisect_left(self.bounds, value)] += 1
        self.total += value


class LaneMeasures:
    """The batches of one lane: how many writes each had, how long its first waited, how long it took to commit."""

    __slots__ = ("batch_writes", "commit_seconds", "wait_seconds")

    def __init__(self) -> None:
        self.batch_writes = Histogram(SIZES)
        self.wait_seconds = Histogram(SECONDS)
        self.commit_seconds = Histogram(SECONDS)


class StorageMeasures(NamedTuple):
    """What storage does now: its queues, each lane's batches, outages, the replica's lag."""

    writes_waiting: int
    lanes: list[LaneMeasures]
    reads_waiting: int
    is_available: dict[str, bool]
    replica_lag_seconds: float | None
