"""Counting requests in fixed windows, in this process alone."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest
from limits import parse

from web import windows
from web.windows import Windows

THREE = parse("3/minute")
VISITOR = ("click", "203.0.113.9", "7")


class Clock:
    def __init__(self) -> None:
        self.seconds = 1_000.0

    def __call__(self) -> float:
        return self.seconds


def hits(counted: Windows, times: int, subject: tuple[str, ...] = VISITOR) -> list[float | None]:
    return [counted.hit(THREE, subject) for _ in range(times)]


def test_requests_beyond_the_rate_learn_when_the_window_of_the_first_one_ends():
    clock = Clock()
    counted = Windows(clock)
    hits(counted, 2)
    clock.seconds += 59

    assert hits(counted, 2) == [None, 1_060.0]


def test_a_new_window_begins_with_the_first_request_after_the_old_one():
    clock = Clock()
    counted = Windows(clock)
    hits(counted, 4)
    clock.seconds += 60

    assert hits(counted, 4) == [None, None, None, 1_120.0]


def test_each_subject_has_its_own_window():
    counted = Windows(Clock())
    hits(counted, 3)

    assert hits(counted, 1, ("click", "203.0.113.9", "8")) == [None]


def test_looking_does_not_count():
    counted = Windows(Clock())
    hits(counted, 2)

    assert [counted.full_until(THREE, VISITOR) for _ in range(5)] == [None] * 5
    hits(counted, 1)
    assert counted.full_until(THREE, VISITOR) == 1_060.0


def test_cleared_requests_are_forgotten():
    counted = Windows(Clock())
    hits(counted, 4)

    counted.clear(THREE, VISITOR)

    assert hits(counted, 1) == [None]


def test_a_count_looks_at_its_own_subject_alone(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(windows, "MOST_WINDOWS", 10_000)
    counted = Windows(Clock())
    for visitor in range(10_000):
        counted.hit(THREE, ("click", str(visitor)))

    assert lines_run(lambda: counted.hit(THREE, ("click", "1"))) < 30


def test_beyond_the_most_windows_the_oldest_is_forgotten(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(windows, "MOST_WINDOWS", 2)
    counted = Windows(Clock())
    hits(counted, 3)
    for visitor in ("1", "2"):
        counted.hit(THREE, ("click", visitor))

    assert hits(counted, 1) == [None]


def lines_run(work: Callable[[], object]) -> int:
    """Return how many lines of Python a call runs."""
    count = 0

    def trace(_frame: FrameType, event: str, _argument: object) -> Callable[..., Any]:
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return count
