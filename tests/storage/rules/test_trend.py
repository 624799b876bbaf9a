"""How a metric moved."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.rules import metrics, trend
from storage.rules.trend import Direction, Trend

AMOUNTS = st.integers(0, 10**15)


@pytest.mark.parametrize(
    ("previous", "current", "expected"),
    [
        (0, 0, Trend(0.0, Direction.STABLE)),
        (0, 5, Trend(None, Direction.UP)),
        (3, 4, Trend(33.3, Direction.UP)),
        (3, 2, Trend(33.3, Direction.DOWN)),
        (10_000, 10_004, Trend(0.0, Direction.STABLE)),
        (10_000, 10_005, Trend(0.1, Direction.UP)),
        (10_000, 9_996, Trend(0.0, Direction.STABLE)),
    ],
)
def test_a_trend_is_the_absolute_change_with_its_direction(previous: int, current: int, expected: Trend):
    assert trend.between(previous, current) == expected


@given(AMOUNTS, AMOUNTS)
def test_a_trend_has_the_direction_of_the_change_and_is_stable_exactly_when_it_rounds_to_nothing(
    previous: int, current: int
):
    found = trend.between(previous, current)

    assert (found.percent == 0) == (found.direction == Direction.STABLE)
    assert (found.percent is None) == (previous == 0 < current)
    assert found.percent is None or found.percent >= 0
    assert found.direction != Direction.UP or current > previous
    assert found.direction != Direction.DOWN or current < previous


def test_the_conversion_rate_has_two_decimals_and_the_average_order_is_revenue_per_conversion():
    rates = {(0, 0): 0, (3, 0): 0, (1, 3): 33.33, (2, 3): 66.67, (1, 800): 0.13}
    averages = {(1000, 0): 0, (1000, 3): 333, (2000, 3): 667}

    assert {each: metrics.conversion_rate(*each) for each in rates} == rates
    assert {each: metrics.average_order_cents(*each) for each in averages} == averages
