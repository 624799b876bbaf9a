"""Performance: a program's totals of each day of a range and of the range before, from rollups, and their refunds."""

from datetime import date, datetime
from typing import Any, NamedTuple, Self

from sqlalchemy import Connection, Date, func, select

from storage.engine import ids
from storage.engine.statements import read_statement
from storage.lists.declaration import PROGRAM
from storage.rules.errors import NotFound, required
from storage.rules.periods import period
from storage.rules.periods.period import DateRangeQuery, Period, Window
from storage.rules.reports.metrics import Day, RefundTotals, Totals, added
from storage.tables import programs, rollups
from storage.tables.columns import from_millis

_OF_PROGRAM, _OF_PARTNER = (read_statement(f"{whose}_days", day=Date) for whose in ("program", "partner"))
_REFUNDS = read_statement("refunds_made")
_program = select(programs.c.created_at, programs.c.currency).where(programs.c.id == PROGRAM)


class ReportScope(NamedTuple):
    """What a report reads: the days of a program, or of one of its partners, as of a time."""

    program_id: int
    window: Window
    at: datetime
    partner_id: int | None = None

    @property
    def values(self) -> dict[str, Any]:
        """The named values of the statements about it."""
        since, last = self.window.starts_at, self.window.ends_at
        days = {"first_day": self.window.first, "last_day": self.window.last}
        who = {"program_id": self.program_id, "partner_id": self.partner_id}
        return {**who, **days, "since": since, "last": last, "first_id": ids.first(since)}

    def compared(self, query: DateRangeQuery) -> Self:
        """Return the same of the window that a query compares it with. Raises InvalidRange before the year 1."""
        return self._replace(window=query.before or self.window.previous)


class Performance(NamedTuple):
    """A report in cents of `currency`: the totals of each day, their sum, and the same of the window before."""

    currency: str
    period: Period
    scope: ReportScope
    before: ReportScope
    days: list[Day]
    previous_days: list[Day]
    current: Totals
    previous: Totals


def read_performance(
    connection: Connection, program_id: int, query: DateRangeQuery, *, at: datetime, partner_id: int | None = None
) -> Performance:
    """Return the report of a program, or of a partner, for a range. Raises InvalidPeriod, InvalidRange, NotFound."""
    currency, name, scope = choose_period(connection, program_id, query, at=at)
    scope = scope._replace(partner_id=partner_id)
    before = scope.compared(query)
    windows = (scope.window, before.window)
    both = Window(min(each.first for each in windows), max(each.last for each in windows))
    stored = read_days(connection, scope._replace(window=both))
    days, previous_days = ([Day(day, stored.get(day, Totals())) for day in each.days] for each in windows)
    current, previous = (added(Totals(), (day.totals for day in each)) for each in (days, previous_days))
    return Performance(currency, name, scope, before, days, previous_days, current, previous)


def choose_period(
    connection: Connection, program_id: int, query: DateRangeQuery, *, at: datetime
) -> tuple[str, Period, ReportScope]:
    """Return a program's currency, and the name and days of its range. Raises InvalidPeriod, InvalidRange, NotFound."""
    program = required(connection.execute(_program, {"program_id": program_id}).one_or_none(), NotFound)
    created_at = program.created_at
    if query.period == Period.ALL:  # it starts with the first day that has totals, which may be an import's
        recorded = select(func.min(rollups.c.day)).where(rollups.c.program_id == program_id)
        if (first_day := connection.execute(recorded).scalar()) is not None:
            created_at = min(created_at, Window(first_day, first_day).starts_at)
    name, window = period.choose(query, created_at=created_at, at=at)
    return program.currency, name, ReportScope(program_id, window, at)


def read_days(connection: Connection, scope: ReportScope) -> dict[date, Totals]:
    """Return the totals of the scope's days that have some."""
    rows = connection.execute(_OF_PROGRAM if scope.partner_id is None else _OF_PARTNER, scope.values)
    return {day: Totals(*counts) for day, *counts in rows}


def read_refunds_by_time(connection: Connection, scope: ReportScope, millis: int) -> dict[datetime, RefundTotals]:
    """Return the refunds that were made in each hour or day; of a partner, those of their customers."""
    rows = connection.execute(_REFUNDS, {**scope.values, "millis": millis})
    return {from_millis(part * millis): RefundTotals(*map(int, sums)) for part, *sums in rows}
