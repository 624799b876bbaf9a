"""Picked periods: the ranges that people pick by name or by two dates, and what each is compared with."""

from datetime import UTC, date, datetime, timedelta
from enum import StrEnum

from storage.rules.errors import InvalidPeriod, InvalidRange
from storage.rules.periods import period
from storage.rules.periods.period import DateRangeQuery, Period, Window

_DAY = timedelta(days=1)
RUNNING = {Period.THIS_MONTH: 1, Period.THIS_QUARTER: 3, Period.YEAR_TO_DATE: 12}
_OVER = {Period.LAST_MONTH: 1, Period.LAST_QUARTER: 3, Period.LAST_YEAR: 12}


class Comparison(StrEnum):
    PREVIOUS = "previous"
    LAST_YEAR = "last_year"
    NONE = "none"


def pick(query: DateRangeQuery, *, at: datetime, comparison: str = Comparison.PREVIOUS) -> DateRangeQuery:
    """Return the range that two dates name, or else a name does. Raises InvalidPeriod, InvalidRange."""
    if comparison not in set(Comparison):
        raise InvalidPeriod(f"Compare with one of {', '.join(Comparison)}.")
    window, before = query.window, None
    if window is None:
        if query.period not in set(Period):
            raise InvalidPeriod
        if query.period == Period.ALL:  # it is compared with nothing
            return DateRangeQuery(Period.ALL)
        window, before = _named(Period(query.period), at)
    if comparison == Comparison.LAST_YEAR:
        before = Window(_year_before(window.first), _year_before(window.last))
    elif comparison == Comparison.PREVIOUS:
        before = before or window.previous
    return window.query(None if comparison == Comparison.NONE else before)


def _named(name: Period, at: datetime) -> tuple[Window, Window | None]:
    """Return the days of a period, and those of the one before if these are not simply as many days."""
    today = at.astimezone(UTC).date()
    if name in {Period.TODAY, Period.YESTERDAY}:
        day = today if name == Period.TODAY else today - _DAY
        return Window(day, day), None
    if name == Period.TWELVE_MONTHS:
        return Window(_year_before(today) + _DAY, today), None
    if name in _OVER:
        return period.calendar(_OVER[name], at, ago=1)
    if name in RUNNING:
        whole, before = period.calendar(RUNNING[name], at)
        return Window(whole.first, today), Window(before.first, min(before.first + (today - whole.first), before.last))
    return Window(today - (period.DAYS[name] - 1) * _DAY, today), None


def _year_before(day: date) -> date:
    """Return the same day a year before; 28 February for a 29th. Raises InvalidRange before the year 1."""
    try:
        return day.replace(year=day.year - 1, day=28 if (day.month, day.day) == (2, 29) else day.day)
    except ValueError:
        raise InvalidRange from None
