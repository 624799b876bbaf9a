"""Event ids, integers in time order: none is given out twice."""

import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime

_EPOCH = datetime(2020, 1, 1, tzinfo=UTC)
EPOCH_MILLIS = 1_577_836_800_000
_lock = threading.Lock()
_process = [0]  # the last id that this process has issued
_past: ContextVar[list[int] | None] = ContextVar("the last id of imported events", default=None)


def first(at: datetime) -> int:
    """Return the smallest id of a timestamp; smaller ids were recorded earlier."""
    return int((at - _EPOCH).total_seconds() * 1_000_000)


def after(at: datetime, count: int, *, past: int = 0) -> range:
    """Return `count` new ids: microseconds since 2020, after `past` and after every id that this process has issued.

    They stay below 2**53 (exact in JSON) until the year 2305. Two processes may use the same microsecond; then
    the primary key (program_id, id) rejects the later batch and the writer runs it again with new ids.
    """
    own = _past.get()
    last, earliest = (_process, first(at)) if own is None else (own, first(at) + random.randrange(1_000_000))  # noqa: S311
    with _lock:
        start = max(last[0] + 1, earliest, past + 1)
        last[0] = start + count - 1
    return range(start, start + count)


@contextmanager
def of_the_past() -> Iterator[None]:
    """Let the block draw ids of imported events, by their times, at random within a second: two may be the same."""
    token = _past.set([0])
    try:
        yield
    finally:
        _past.reset(token)
