"""Performance: a program's totals of each day of a range and of the range before, from rollups, and their refunds."""

from datetime import date, datetime
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, Connection, Date, Select, bindparam, func, select

from storage.engine import ids
from storage.engine.statements import read_statement
from storage.lists.declaration import PROGRAM
from storage.rules.errors import NotFound, required
from storage.rules.periods import period
from storage.rules.periods.period import DateRangeQuery, Period, Window
from storage.rules.reports.metrics import Day, RefundTotals, Totals, added
from storage.tables import programs, refunds, rollups, sales
from storage.tables.columns import from_millis, stored_millis

PARTNER: Any = bindparam("partner_id", type_=BigInteger)
_OF_PROGRAM, _OF_PARTNER = (read_statement(f"{whose}_days", day=Date) for whose in ("program", "partner"))
_program = select(programs.c.created_at, programs.c.currency).where(programs.c.id == PROGRAM)


class ReportScope(NamedTuple):
    """The days of a program that are read, and when."""

    program_id: int
    window: Window
    at: datetime


class Performance(NamedTuple):
    """A report in cents of `currency`: the totals of each day, their sum, and the same of the window before."""

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


def read_performance(
    connection: Connection, program_id: int, query: DateRangeQuery, *, at: datetime, partner_id: int | None = None
) -> Performance:
    """Return the report of a program, or of a partner, for a range. Raises InvalidPeriod, InvalidRange, NotFound."""
    currency, name, window = choose_period(connection, program_id, query, at=at)
    before = query.before or window.previous
    both = Window(min(before.first, window.first), max(before.last, window.last))
    stored = read_days(connection, program_id, both, partner_id)
    days, previous_days = ([Day(day, stored.get(day, Totals())) for day in each.days] for each in (window, before))
    current, previous = (added(Totals(), (day.totals for day in each)) for each in (days, previous_days))
    about = (program_id, currency, name, window, before)
    return Performance(*about, days, previous_days, current, previous, at)


def choose_period(
    connection: Connection, program_id: int, query: DateRangeQuery, *, at: datetime
) -> tuple[str, Period, Window]:
    """Return a program's currency, and the name and days of its range. Raises InvalidPeriod, InvalidRange, NotFound."""
    program = required(connection.execute(_program, {"program_id": program_id}).one_or_none(), NotFound)
    created_at = program.created_at
    if query.period == Period.ALL:  # it starts with the first day that has totals, which may be an import's
        recorded = select(func.min(rollups.c.day)).where(rollups.c.program_id == program_id)
        if (first_day := connection.execute(recorded).scalar()) is not None:
            created_at = min(created_at, Window(first_day, first_day).starts_at)
    return program.currency, *period.choose(query, created_at=created_at, at=at)


def read_days(
    connection: Connection, program_id: int, window: Window, partner_id: int | None = None
) -> dict[date, Totals]:
    """Return the totals of the days of a window that have some: of the program, or of one of its partners."""
    statement = _OF_PROGRAM if partner_id is None else _OF_PARTNER
    rows = connection.execute(statement, in_window(program_id, window, partner_id))
    return {day: Totals(*counts) for day, *counts in rows}


def read_refunds_by_time(
    connection: Connection, program_id: int, window: Window, millis: int, *, partner_id: int | None = None
) -> dict[datetime, RefundTotals]:
    """Return the refunds that were made in each hour or day of a window: the program's, or of a partner's customers."""
    made = refunds_made(millis, is_of_partner=partner_id is not None)
    rows = connection.execute(made, in_window(program_id, window, partner_id))
    return {from_millis(row[0] * millis): RefundTotals(*map(int, row[1:])) for row in rows}


@cache
def refunds_made(millis: int | None, *, is_of_partner: bool) -> Select[Any]:
    """Return the statement of a window's refunds by hours or days, or else by partner."""
    back, sale = refunds.c, sales.c
    key = sale.partner_id if millis is None else stored_millis(back.at) // millis
    sums = (func.count(), func.sum(back.program_cents), func.sum(back.reversed_cents))
    in_time = back.at.between(bindparam("since"), bindparam("last"))
    mine = (back.program_id == PROGRAM, back.id >= bindparam("first_id"), in_time, back.amount_cents != 0)
    made = select(key, *sums).select_from(refunds).where(*mine)
    if millis is None or is_of_partner:
        made = made.join(sales, (sale.program_id == back.program_id) & (sale.id == back.sale_id))
    return made.where(*([sale.partner_id == PARTNER] if is_of_partner else [])).group_by(key).order_by(key)


def in_window(program_id: int, window: Window, partner_id: int | None = None) -> dict[str, Any]:
    """Return the parameters of these statements, each of which is built once."""
    return {
        "program_id": program_id,
        "partner_id": partner_id,
        "first_id": ids.first(window.starts_at),
        "since": window.starts_at,
        "last": window.ends_at,
        "first_day": window.first,
        "last_day": window.last,
    }
