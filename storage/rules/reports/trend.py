"""Trends: how a metric changed from the previous period to the current one."""

from decimal import ROUND_HALF_UP, Decimal
from enum import StrEnum
from typing import NamedTuple

_TENTH = Decimal("0.1")


class Direction(StrEnum):
    """The direction of a change."""

    UP = "up"
    DOWN = "down"
    STABLE = "stable"


class Trend(NamedTuple):
    """The change in percent with one decimal, without its sign (None if it rose from 0), and its direction."""

    percent: float | None
    direction: Direction


def between(previous: int, current: int) -> Trend:
    """Return the trend between two counts or amounts in cents; a change that rounds to 0.0 is stable."""
    if previous == 0:
        return _from_nothing(current)
    change = Decimal(100 * (current - previous)) / abs(previous)
    percent = abs(change).quantize(_TENTH, ROUND_HALF_UP)
    moved = Direction.UP if change > 0 else Direction.DOWN
    return Trend(float(percent), Direction.STABLE if percent == 0 else moved)


def _from_nothing(current: int) -> Trend:
    if current > 0:
        trend = Trend(None, Direction.UP)
    elif current < 0:
        trend = Trend(None, Direction.DOWN)
    else:
        trend = Trend(0.0, Direction.STABLE)
    return trend
