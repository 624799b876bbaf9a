"""Event ids: integers in time order, unique in a process; the primary key rejects a collision between processes."""

import threading
from datetime import UTC, datetime

_EPOCH = datetime(2020, 1, 1, tzinfo=UTC)
EPOCH_MILLIS = 1_577_836_800_000
_lock = threading.Lock()
_last = 0


def first(at: datetime) -> int:
    """Return the smallest id of a timestamp; smaller ids were recorded earlier."""
    return int((at - _EPOCH).total_seconds() * 1_000_000)


def after(at: datetime, count: int, *, past: int = 0) -> range:
    """Return `count` new ids: microseconds since 2020, after `past` and after every id that this process has issued.

    They stay below 2**53 (exact in JSON) until the year 2305. Two processes may use the same microsecond; then
    the primary key (program_id, id) rejects the later batch and the writer runs it again with new ids.
    """
    global _last  # noqa: PLW0603 - the one counter of the process
    with _lock:
        start = max(_last + 1, first(at), past + 1)
        _last = start + count - 1
    return range(start, start + count)
