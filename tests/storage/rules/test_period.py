"""Which UTC days a report and the date picker's names cover, and what they are compared with."""

from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.rules.errors import InvalidPeriod, InvalidRange
from storage.rules.periods import period, picked_period
from storage.rules.periods.period import MOST_DAYS, DateRangeQuery, Period, Window
from storage.rules.periods.picked_period import Comparison
from tests.tables import table

CREATED = datetime(2026, 1, 10, 23, 59, tzinfo=UTC)
NOW = datetime(2026, 5, 20, 12, 0, tzinfo=UTC)
TABLE = table("storage/rules/periods.toml")
DAYS = st.dates(date(2000, 1, 1), date(2100, 1, 1))
WINDOWS = st.builds(lambda first, length: Window(first, first + timedelta(days=length)), DAYS, st.integers(0, 1829))


def days(*written: str) -> Window:
    return Window(*map(date.fromisoformat, written))


def choose(**wanted: Any) -> tuple[Period, Window]:
    return period.choose(DateRangeQuery(**wanted), created_at=CREATED, at=NOW)


def test_a_named_period_has_its_number_of_days_with_today_the_last():
    for name, first, length in (("7d", (5, 14), 7), ("30d", (4, 21), 30), ("90d", (2, 20), 90)):
        _, window = choose(period=name)

        assert window == Window(date(2026, *first), NOW.date())
        assert len(window.days) == window.length == length
    assert choose(period="all")[1] == Window(CREATED.date(), NOW.date())
    assert choose() == choose(period="7d")


def test_two_ends_take_precedence_over_any_period_and_one_end_is_ignored():
    chosen = choose(period="banana", date_from="2026-05-01", date_to="2026-05-03")

    assert chosen == (Period.SEVEN_DAYS, Window(date(2026, 5, 1), date(2026, 5, 3)))
    for alone in ({"date_from": "2026-01-01"}, {"date_to": "banana"}):
        assert choose(period="30d", **alone) == choose(period="30d")


def test_a_range_is_widened_to_whole_utc_days_and_a_malformed_reversed_or_too_long_one_rejected():
    for start, end, *widened in TABLE["ranges"]["sent_and_days"]:
        assert period.custom(start, end) == days(*widened), (start, end)
    for start, end in TABLE["ranges"]["wrong"]:
        with pytest.raises(InvalidRange):
            period.custom(start, end)
    first = date(2020, 1, 1)
    longest = period.custom(first.isoformat(), (first + timedelta(days=MOST_DAYS - 1)).isoformat())
    assert longest.length == MOST_DAYS == 1_830


@given(WINDOWS)
def test_a_window_is_whole_days_and_the_previous_one_is_as_long_and_ends_where_it_starts(window: Window):
    assert window.starts_at == datetime.combine(window.first, time.min, UTC)
    assert window.ends_at == datetime.combine(window.last, time(23, 59, 59, 999_000), UTC)
    assert window.previous.length == window.length == len(window.days)
    assert window.previous.last + timedelta(days=1) == window.first
    with pytest.raises(InvalidRange):
        _ = period.custom("0001-01-01", "0001-01-07").previous


PICKED_AT = datetime(2026, 5, 31, 12, 0, tzinfo=UTC)


def test_each_name_has_its_days_and_those_before_and_all_time_is_compared_with_nothing():
    picked = {name: picked_period.pick(DateRangeQuery(name), at=PICKED_AT) for name in Period}

    for name, (first, last, *before) in TABLE["names"].items():
        assert picked[Period(name)].window == days(first, last), name
        assert picked[Period(name)] == DateRangeQuery(None, first, last, days(*before))
    assert {each.period for each in picked.values()} == {None, Period.ALL}
    assert picked[Period("all")] == DateRangeQuery(Period.ALL)


def test_a_range_can_be_compared_with_a_year_before_or_with_nothing():
    leap = DateRangeQuery(None, "2028-02-29", "2028-03-01")

    year = picked_period.pick(leap, at=PICKED_AT, comparison=Comparison.LAST_YEAR)
    nothing = picked_period.pick(leap, at=PICKED_AT, comparison=Comparison.NONE)

    assert (year.before, nothing.before) == (days("2027-02-28", "2027-03-01"), None)


def test_an_unknown_name_or_a_reversed_range_is_rejected():
    for name in ("", "7D", "1d"):
        with pytest.raises(InvalidPeriod):
            choose(period=name)
        with pytest.raises(InvalidPeriod):
            picked_period.pick(DateRangeQuery(name), at=PICKED_AT)
    for first, last in (("2026-05-02", "2026-05-01"), ("0001-01-02", "0001-01-02")):
        with pytest.raises(InvalidRange):
            picked_period.pick(DateRangeQuery(None, first, last), at=PICKED_AT, comparison=Comparison.LAST_YEAR)
