"""Which days the date picker's names mean, and what they are compared with."""

from datetime import UTC, date, datetime

import pytest

from storage.rules import picked_period
from storage.rules.errors import InvalidPeriod, InvalidRange
from storage.rules.period import DateRangeQuery, Period, Window
from storage.rules.picked_period import Comparison, PickedPeriod

NOW = datetime(2026, 5, 31, 12, 0, tzinfo=UTC)


def days(*written: str) -> Window:
    return Window(*map(date.fromisoformat, written))


@pytest.mark.parametrize(
    ("name", "window", "before"),
    [
        ("today", ("2026-05-31", "2026-05-31"), ("2026-05-30", "2026-05-30")),
        ("yesterday", ("2026-05-30", "2026-05-30"), ("2026-05-29", "2026-05-29")),
        ("7d", ("2026-05-25", "2026-05-31"), ("2026-05-18", "2026-05-24")),
        ("30d", ("2026-05-02", "2026-05-31"), ("2026-04-02", "2026-05-01")),
        ("90d", ("2026-03-03", "2026-05-31"), ("2025-12-03", "2026-03-02")),
        ("this_month", ("2026-05-01", "2026-05-31"), ("2026-04-01", "2026-04-30")),
        ("last_month", ("2026-04-01", "2026-04-30"), ("2026-03-01", "2026-03-31")),
        ("this_quarter", ("2026-04-01", "2026-05-31"), ("2026-01-01", "2026-03-02")),
        ("year_to_date", ("2026-01-01", "2026-05-31"), ("2025-01-01", "2025-05-31")),
    ],
)
def test_each_name_has_its_days_and_those_before(name: str, window: tuple[str, str], before: tuple[str, str]):
    picked = picked_period.pick(DateRangeQuery(name), at=NOW)

    assert (picked.window, picked.before) == (days(*window), days(*before))
    assert picked.query == DateRangeQuery(None, *window)


def test_every_name_is_a_range_that_reports_take_and_all_time_is_compared_with_nothing():
    picked = {name: picked_period.pick(DateRangeQuery(name), at=NOW) for name in PickedPeriod}

    assert {each.query.period for each in picked.values()} == {None, Period.ALL}
    assert picked[PickedPeriod("all")] == (DateRangeQuery(Period.ALL), None, None)


def test_a_range_can_be_compared_with_a_year_before_or_with_nothing():
    leap = DateRangeQuery(None, "2028-02-29", "2028-03-01")

    year = picked_period.pick(leap, at=NOW, comparison=Comparison.LAST_YEAR)
    nothing = picked_period.pick(leap, at=NOW, comparison=Comparison.NONE)

    assert (year.before, nothing.before) == (days("2027-02-28", "2027-03-01"), None)


def test_an_unknown_name_or_a_reversed_range_is_rejected():
    with pytest.raises(InvalidPeriod):
        picked_period.pick(DateRangeQuery("fortnight"), at=NOW)
    with pytest.raises(InvalidRange):
        picked_period.pick(DateRangeQuery(None, "2026-05-02", "2026-05-01"), at=NOW)
    with pytest.raises(InvalidRange):
        picked_period.pick(DateRangeQuery(None, "0001-01-02", "0001-01-02"), at=NOW, comparison=Comparison.LAST_YEAR)
