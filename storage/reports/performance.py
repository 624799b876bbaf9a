"""Performance: a program's totals for each day of a range, and for the previous range. Reads rollups, not events."""

from collections.abc import Iterable, Sequence
from datetime import date, datetime
from typing import NamedTuple

from sqlalchemy import Connection, func, select

from storage.rules.errors import NotFound
from storage.rules.periods import period
from storage.rules.periods.period import ChosenPeriod, DateRangeQuery, Period, Window
from storage.rules.reports.metrics import Day, Totals, added
from storage.tables import partner_rollups, partners, programs, rollups

TOP_PARTNERS = 10


class Performance(NamedTuple):
    """A report: one `days` entry for each day of `window`, their sum, and the same of the window before.

    Money is in cents of `currency`; `at` is the time of the report.
    """

    program_id: int
    currency: str
    period: Period
    window: Window
    previous_window: Window
    days: list[Day]
    previous_days: list[Day]
    current: Totals
    previous: Totals
    at: datetime


class PartnerResult(NamedTuple):
    """One partner's totals in a window; money is in cents of the program's currency."""

    partner_id: int
    name: str
    code: str
    totals: Totals


def read_performance(
    connection: Connection,
    program_id: int,
    query: DateRangeQuery,
    *,
    at: datetime,
    partner_id: int | None = None,
) -> Performance:
    """Return the report of a program, or of one of its partners, for a range.

    Raises InvalidPeriod, InvalidRange; NotFound if there is no such program.
    """
    currency, chosen = choose_period(connection, program_id, query, at=at)
    window, before = chosen.window, query.before or chosen.window.previous
    both = Window(min(before.first, window.first), max(before.last, window.last))
    stored = read_days(connection, program_id, both, partner_id)
    days, previous_days = ([Day(day, stored.get(day, Totals())) for day in each.days] for each in (window, before))
    current, previous = (added(Totals(), (day.totals for day in each)) for each in (days, previous_days))
    about = (program_id, currency, chosen.period, window, before)
    return Performance(*about, days, previous_days, current, previous, at)


def choose_period(
    connection: Connection, program_id: int, query: DateRangeQuery, *, at: datetime
) -> tuple[str, ChosenPeriod]:
    """Return a program's currency and its range; `all` starts with its creation or, if that is before, its first day.

    Raises InvalidPeriod, InvalidRange; NotFound if there is no such program.
    """
    of_program = select(programs.c.created_at, programs.c.currency).where(programs.c.id == program_id)
    program = connection.execute(of_program).one_or_none()
    if program is None:
        raise NotFound
    created_at = program.created_at
    if query.period == Period.ALL:
        recorded = select(func.min(rollups.c.day)).where(rollups.c.program_id == program_id)
        if (first_day := connection.execute(recorded).scalar()) is not None:
            created_at = min(created_at, Window(first_day, first_day).starts_at)
    return program.currency, period.choose(query, created_at=created_at, at=at)


def read_days(
    connection: Connection, program_id: int, window: Window, partner_id: int | None = None
) -> dict[date, Totals]:
    """Return the totals of the days of a window that have some: of the program, or of one of its partners."""
    table = rollups if partner_id is None else partner_rollups
    mine = [table.c.program_id == program_id, table.c.day.between(window.first, window.last)]
    if partner_id is not None:
        mine.append(table.c.partner_id == partner_id)
    rows = connection.execute(select(*(table.c[name] for name in ("day", *Totals._fields))).where(*mine))
    return {day: Totals(*counts) for day, *counts in rows}


def read_performances(
    connection: Connection, program_ids: Iterable[int], query: DateRangeQuery, *, at: datetime
) -> list[Performance]:
    """Return the reports of several programs, in their order. Raises the errors of `read_performance`."""
    return [read_performance(connection, program_id, query, at=at) for program_id in program_ids]


def read_partners(
    connection: Connection,
    program_id: int,
    window: Window,
    *,
    limit: int = TOP_PARTNERS,
    partner_ids: Sequence[int] | None = None,
) -> list[PartnerResult]:
    """Return the totals of the program's partners in a window: most revenue first, then most clicks.

    With `partner_ids`, return these partners instead of the top ones.
    """
    row = partner_rollups.c
    chosen = [] if partner_ids is None else [row.partner_id.in_(partner_ids)]
    sums = [func.sum(row[name]) for name in Totals._fields]
    brought = (
        select(row.partner_id, partners.c.name, partners.c.code, *sums)
        .join(partners, (partners.c.program_id == row.program_id) & (partners.c.id == row.partner_id))
        .where(row.program_id == program_id, row.day.between(window.first, window.last), *chosen)
        .group_by(row.partner_id, partners.c.name, partners.c.code)
        .order_by(func.sum(row.revenue_cents).desc(), func.sum(row.clicks).desc(), row.partner_id)
        .limit(limit if partner_ids is None else len(partner_ids))
    )
    return [
        PartnerResult(partner_id, name, code, Totals(*map(int, sums)))
        for partner_id, name, code, *sums in connection.execute(brought)
    ]
