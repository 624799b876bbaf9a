"""Calendar months in UTC: clicks are stored, deleted and exported by month."""

import re
from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple


class Month(NamedTuple):
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
    def last_day(self) -> date:
        return (self.plus(1).starts_at - timedelta(days=1)).date()

    def plus(self, months: int) -> "Month":
        year, month = divmod(self.year * 12 + self.number - 1 + months, 12)
        return Month(year, month + 1)

    def __str__(self) -> str:
        return f"{self.year:04}-{self.number:02}"
