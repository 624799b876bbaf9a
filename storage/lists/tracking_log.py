"""The tracking log: the test-mode calls of a program."""

from datetime import datetime
from typing import NamedTuple

from storage.lists.declaration import List
from storage.tables import tracking_log


class LogEntry(NamedTuple):
    """One test-mode call, and the test event that it stored."""

    id: int
    at: datetime
    call: str
    event_id: int | None
    message: str


TRACKING_LOG = List(
    "tracking-log",
    "Tracking log",
    "call",
    "The log of test-mode calls",
    LogEntry,
    tracking_log,
    at=tracking_log.c.at,
    may_lag=True,
)
