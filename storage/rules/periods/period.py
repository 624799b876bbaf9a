"""Periods: the UTC days that a report covers, and the window of equal length before them; calendar months in UTC."""

import re
from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum
from typing import NamedTuple

from storage.rules.errors import InvalidPeriod, InvalidRange

MOST_DAYS = 1830
_DAY = timedelta(days=1)
_LAST_MILLISECOND = time(23, 59, 59, 999_000, UTC)
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_MOMENT = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}([.,]\d{1,9})?)?(Z|[+-]\d{2}(:?\d{2})?)?", re.ASCII)


class Month(NamedTuple):
    """A calendar month in UTC: clicks are stored, deleted and exported by month."""

    year: int
    number: int

    @classmethod
    def of(cls, at: datetime) -> "Month":
        utc = at.astimezone(UTC)
        return cls(utc.year, utc.month)

    @classmethod
    def parse(cls, text: str) -> "Month":
        """Return the month that a text such as 2026-05 names. Raises ValueError."""
        named = re.fullmatch(r"(\d{4})-(0[1-9]|1[0-2])", text, re.ASCII)
        if named is None or named[1] == "0000":
            raise ValueError(f"{text!r} is not a month: write it like 2026-05.")
        return cls(int(named[1]), int(named[2]))

    @property
    def starts_at(self) -> datetime:
        return datetime(self.year, self.number, 1, tzinfo=UTC)

    @property
    def window(self) -> "Window":
        return Window(self.starts_at.date(), (self.plus(1).starts_at - _DAY).date())

    def plus(self, months: int) -> "Month":
        year, month = divmod(self.year * 12 + self.number - 1 + months, 12)
        return Month(year, month + 1)

    def __str__(self) -> str:
        return f"{self.year:04}-{self.number:02}"


class Period(StrEnum):
    """The ranges that have a name: days that end today, and days of the calendar."""

    SEVEN_DAYS = "7d"
    THIRTY_DAYS = "30d"
    NINETY_DAYS = "90d"
    ALL = "all"
    TODAY = "today"
    YESTERDAY = "yesterday"
    THIS_MONTH = "this_month"
    LAST_MONTH = "last_month"
    THIS_QUARTER = "this_quarter"
    LAST_QUARTER = "last_quarter"
    YEAR_TO_DATE = "year_to_date"
    LAST_YEAR = "last_year"
    TWELVE_MONTHS = "12m"


DAYS = {Period.SEVEN_DAYS: 7, Period.THIRTY_DAYS: 30, Period.NINETY_DAYS: 90}
REPORTED = {each.value: each for each in (*DAYS, Period.ALL)}  # those of the specification


class DateRangeQuery(NamedTuple):
    """The range in a query: the name of a period, or two ISO 8601 timestamps, which take precedence."""

    period: str | None = None
    date_from: str | None = None
    date_to: str | None = None
    before: "Window | None" = None  # what it is compared with; None: the window of equal length before it

    @property
    def window(self) -> "Window | None":
        """The days of a custom range, None without both ends. Raises InvalidRange."""
        return None if self.date_from is None or self.date_to is None else custom(self.date_from, self.date_to)


class Span(NamedTuple):
    """The timestamps from `since` on and before `until`; None is an open end."""

    since: datetime | None = None
    until: datetime | None = None


ALWAYS = Span()


class Window(NamedTuple):
    """Whole UTC days, both ends included."""

    first: date
    last: date

    @property
    def length(self) -> int:
        return (self.last - self.first).days + 1

    @property
    def days(self) -> list[date]:
        return [self.first + n * _DAY for n in range(self.length)]

    @property
    def starts_at(self) -> datetime:
        return datetime.combine(self.first, time(0, tzinfo=UTC))

    @property
    def ends_at(self) -> datetime:
        """The last millisecond of its last day."""
        return datetime.combine(self.last, _LAST_MILLISECOND)

    @property
    def span(self) -> Span:
        return Span(self.starts_at, None if self.last == date.max else self.ends_at + timedelta(milliseconds=1))

    def query(self, before: "Window | None" = None) -> DateRangeQuery:
        return DateRangeQuery(None, str(self.first), str(self.last), before)

    @property
    def previous(self) -> "Window":
        """The window of equal length that ends the day before this one. Raises InvalidRange before the year 1."""
        try:
            return Window(self.first - self.length * _DAY, self.first - _DAY)
        except OverflowError:
            raise InvalidRange from None


def choose(query: DateRangeQuery, *, created_at: datetime, at: datetime) -> tuple[Period, Window]:
    """Return the name and the range that a query selects, as of `at`. Raises InvalidPeriod, InvalidRange.

    The last day of a named period is today; `all` starts on the day of `created_at`.
    """
    sent, window = REPORTED.get(query.period or ""), query.window
    if window is None:
        if sent is None and query.period is not None:
            raise InvalidPeriod
        today = at.astimezone(UTC).date()
        created = created_at.astimezone(UTC).date()
        first = created if sent == Period.ALL else today - (DAYS[sent or Period.SEVEN_DAYS] - 1) * _DAY
        window = Window(min(first, today), today)
    return sent or Period.SEVEN_DAYS, window


def custom(date_from: str, date_to: str) -> Window:
    """Return the whole UTC days from one ISO 8601 date or timestamp to another. Raises InvalidRange."""
    start = _timestamp(date_from, time(0, tzinfo=UTC))
    end = _timestamp(date_to, time.max.replace(tzinfo=UTC))
    window = Window(start.date(), end.date())
    if start > end or window.length > MOST_DAYS:
        raise InvalidRange
    return window


def calendar(months: int, at: datetime, *, ago: int = 0) -> tuple[Window, Window]:
    """Return a whole calendar month, quarter (3 months) or year (12) and the one before; `ago` 1: each one earlier."""
    today = Month.of(at)
    first = today._replace(number=(today.number - 1) // months * months + 1)
    before, start, end = (first.plus(months * (each - ago)).starts_at.date() for each in (-1, 0, 1))
    return Window(start, end - _DAY), Window(before, start - _DAY)


def span(date_from: str | None, date_to: str | None) -> Span:
    """Return the timestamps from one ISO 8601 date or timestamp to another, both included. Raises InvalidRange."""
    since = None if date_from is None else _timestamp(date_from, time(0, tzinfo=UTC))
    last = None if date_to is None else _timestamp(date_to, time.max.replace(tzinfo=UTC))
    if since is not None and last is not None and since > last:
        raise InvalidRange
    try:
        return Span(since, None if last is None else last + timedelta(milliseconds=1))
    except OverflowError:
        raise InvalidRange from None


def _timestamp(text: str, time_of_day: time) -> datetime:
    """Parse a date (taken at `time_of_day`) or a timestamp (in UTC, unless it has an offset)."""
    try:
        if _DATE.fullmatch(text):
            return datetime.combine(date.fromisoformat(text), time_of_day)
        if not _MOMENT.fullmatch(text):
            raise InvalidRange
        timestamp = datetime.fromisoformat(text)
        return timestamp.replace(tzinfo=UTC) if timestamp.tzinfo is None else timestamp.astimezone(UTC)
    except (ValueError, OverflowError):
        raise InvalidRange from None
