"""Refunds of a span by the time at which they were made, by month and by partner, with the commission taken back."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, Connection, Select, func, select, type_coerce

from storage.engine.cursors import within
from storage.rules.periods.period import Span
from storage.rules.reports.metrics import RefundedMonth, RefundTotals, added
from storage.tables import refunds, sales
from storage.tables.columns import from_millis

HOUR_MILLIS = 3_600_000
DAY_MILLIS = 24 * HOUR_MILLIS


def read_refunds_by_time(
    connection: Connection, program_id: int, span: Span, millis: int, *, partner_id: int | None = None
) -> dict[datetime, RefundTotals]:
    """Return the refunds of the program, or of one partner's customers, for each hour or day of a span with some."""
    start = type_coerce(refunds.c.at, BigInteger) // millis
    grouped = _refunded(program_id, span, start)
    if partner_id is not None:
        grouped = grouped.join(sales, _refunded_sale()).where(sales.c.partner_id == partner_id)
    return {from_millis(row[0] * millis): _totals(row) for row in connection.execute(grouped.order_by(start))}


def read_refunds_by_month(
    connection: Connection, program_id: int, span: Span, *, partner_id: int | None = None
) -> list[RefundedMonth]:
    """Return the same for each month."""
    months: dict[str, list[RefundTotals]] = {}
    for day, totals in read_refunds_by_time(connection, program_id, span, DAY_MILLIS, partner_id=partner_id).items():
        months.setdefault(f"{day:%Y-%m}", []).append(totals)
    return [RefundedMonth(month, *added(RefundTotals(), days)) for month, days in months.items()]


def read_refunds(connection: Connection, program_id: int, span: Span) -> RefundTotals:
    """Return the sum of the program's refunds."""
    return added(RefundTotals(), read_refunds_by_time(connection, program_id, span, DAY_MILLIS).values())


def read_refunds_by_partner(
    connection: Connection, program_id: int, span: Span, partner_ids: Sequence[int]
) -> dict[int, RefundTotals]:
    """Return the refunds of these partners' customers; partners without a refund are left out."""
    if not partner_ids:
        return {}
    partner_id = sales.c.partner_id
    grouped = _refunded(program_id, span, partner_id).join(sales, _refunded_sale())
    return {row[0]: _totals(row) for row in connection.execute(grouped.where(partner_id.in_(partner_ids)))}


def _refunded(program_id: int, span: Span, key: Any) -> Select[Any]:
    back = refunds.c
    mine = (back.program_id == program_id, back.amount_cents != 0, *within(back.id, back.at, span))
    sums = (func.count(), func.sum(back.program_cents), func.sum(back.reversed_cents))
    return select(key, *sums).select_from(refunds).where(*mine).group_by(key)


def _refunded_sale() -> Any:
    return (sales.c.program_id == refunds.c.program_id) & (sales.c.id == refunds.c.sale_id)


def _totals(row: Any) -> RefundTotals:
    return RefundTotals(*map(int, row[1:]))
