"""Refunds of a span: of the whole program, by month, and by partner, with the commission that they took back."""

from collections.abc import Iterable
from datetime import date, datetime
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, Connection, Select, func, select, type_coerce

from storage.engine import pagination
from storage.rules.periods.period import Span, Window
from storage.tables import refunds, sales
from storage.tables.columns import from_millis

HOUR_MILLIS = 3_600_000
DAY_MILLIS = 24 * HOUR_MILLIS


class RefundTotals(NamedTuple):
    """How many refunds there were, their cents in the program's currency, and the commission that they took back."""

    refunds: int = 0
    refunded_cents: int = 0
    reversed_cents: int = 0


class RefundedMonth(NamedTuple):
    """The refunds of a month, in cents of the program's currency, and the commission that they took back."""

    month: str
    refunds: int
    refunded_cents: int
    reversed_cents: int


def total(connection: Connection, program_id: int, span: Span) -> RefundTotals:
    """Return the sums of a span."""
    row = connection.execute(_sums(program_id, span)).one()
    return RefundTotals(row.refunds, int(row.program_cents or 0), int(row.reversed_cents or 0))


def by_partner(connection: Connection, program_id: int, span: Span, ids: Iterable[int]) -> dict[int, RefundTotals]:
    """Return the sums of these partners' customers; partners without a refund are left out."""
    partner_id = sales.c.partner_id
    grouped = _sums(program_id, span).add_columns(partner_id).where(partner_id.in_(list(ids))).group_by(partner_id)
    return {
        row.partner_id: RefundTotals(row.refunds, int(row.program_cents), int(row.reversed_cents))
        for row in connection.execute(grouped)
    }


def by_month(
    connection: Connection, program_id: int, span: Span, *, partner_id: int | None = None
) -> list[RefundedMonth]:
    """Return the refunds of the program, or of one partner's customers, for each month of a span that has some."""
    day = type_coerce(refunds.c.at, BigInteger) // DAY_MILLIS
    daily = _sums(program_id, span).add_columns(day.label("day")).group_by(day)
    if partner_id is not None:
        daily = daily.where(sales.c.partner_id == partner_id)
    months: dict[str, RefundedMonth] = {}
    for row in connection.execute(daily.order_by(day)):
        month = f"{from_millis(row.day * DAY_MILLIS):%Y-%m}"
        before = months.get(month, RefundedMonth(month, 0, 0, 0))
        months[month] = RefundedMonth(
            month,
            before.refunds + row.refunds,
            before.refunded_cents + int(row.program_cents),
            before.reversed_cents + int(row.reversed_cents),
        )
    return list(months.values())


def by_day(
    connection: Connection, program_id: int, window: Window, *, partner_id: int | None = None
) -> dict[date, int]:
    """Return the cents that were refunded on each day of a window that has refunds, as `total` adds them up."""
    refunded = _by_time(connection, program_id, window, DAY_MILLIS, partner_id)
    return {at.date(): cents for at, cents in refunded.items()}


def by_hour(
    connection: Connection, program_id: int, window: Window, *, partner_id: int | None = None
) -> dict[datetime, int]:
    """Return the same for each hour."""
    return _by_time(connection, program_id, window, HOUR_MILLIS, partner_id)


def _by_time(
    connection: Connection, program_id: int, window: Window, millis: int, partner_id: int | None
) -> dict[datetime, int]:
    back = refunds.c
    start = (type_coerce(back.at, BigInteger) // millis).label("start")
    mine = (back.program_id == program_id, *pagination.within(back.id, back.at, window.span))
    sums = select(start, func.sum(back.program_cents).label("cents")).where(*mine).group_by(start)
    if partner_id is not None:
        joined = refunds.join(sales, (sales.c.program_id == back.program_id) & (sales.c.id == back.sale_id))
        sums = sums.select_from(joined).where(sales.c.partner_id == partner_id)
    return {from_millis(row.start * millis): int(row.cents) for row in connection.execute(sums)}


def _sums(program_id: int, span: Span) -> Select[Any]:
    back, sale = refunds.c, sales.c
    sums: list[Any] = [func.count().label("refunds")]
    sums += [func.sum(column).label(column.name) for column in (back.program_cents, back.reversed_cents)]
    joined = refunds.join(sales, (sale.program_id == back.program_id) & (sale.id == back.sale_id))
    mine = (back.program_id == program_id, *pagination.within(back.id, back.at, span))
    return select(*sums).select_from(joined).where(*mine)
