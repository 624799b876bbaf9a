"""What storage measures: the batches of each lane as they commit, its queues and outages when Prometheus asks."""

from typing import NamedTuple

from prometheus_client import Histogram

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256)


class BatchMeasures(NamedTuple):
    """How many writes a batch had, how long its first waited, how long it took to commit: of all lanes or of one."""

    writes: Histogram
    wait_seconds: Histogram
    commit_seconds: Histogram

    def of_lane(self, number: int) -> "BatchMeasures":
        """Return those of one lane."""
        return BatchMeasures(*(each.labels(number) for each in self))


def batches() -> BatchMeasures:
    """Return the measures of a storage without a batch."""
    lane = ("lane",)
    return BatchMeasures(
        Histogram("svc_batch_writes", "Writes in a batch.", lane, buckets=SIZES, registry=None),
        Histogram("svc_write_wait_seconds", "Longest wait in a batch.", lane, buckets=SECONDS, registry=None),
        Histogram("svc_commit_seconds", "Time of a transaction.", lane, buckets=SECONDS, registry=None),
    )


class StorageMeasures(NamedTuple):
    """What storage does now: its queues, its batches, outages, the replica's lag."""

    batches: BatchMeasures
    lanes: int
    writes_waiting: int
    reads_waiting: int
    is_available: dict[str, bool]
    replica_lag_seconds: float | None
