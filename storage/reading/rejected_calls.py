"""Rejected calls of a program: one by one, and grouped by error code."""

from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, and_, func, or_, select

from storage.engine import pagination
from storage.engine.pagination import FIRST_PAGE, Page, Paging
from storage.rules.errors import DuplicateTransaction
from storage.rules.periods.period import ALWAYS, Span
from storage.tables import refused_calls, sales


class LoggedRejection(NamedTuple):
    """One rejected call with the program's key; `fields` names the wrong fields."""

    id: int
    at: datetime
    call: str
    code: str
    message: str
    fields: tuple[str, ...]
    customer_key: str | None
    click_id: str | None
    transaction_id: str | None
    amount_cents: int | None
    currency: str | None
    same_payload: bool | None
    request_id: str | None


class AmountAtStake(NamedTuple):
    """The total of sales that are not recorded, in minor units of one currency."""

    currency: str
    amount_cents: int


class Cause(NamedTuple):
    """All logged calls with one error code; `at_stake` counts a repeated sale once and a recorded one not at all."""

    code: str
    calls: int
    first_at: datetime
    last_at: datetime
    at_stake: tuple[AmountAtStake, ...]


def list_calls(
    connection: Connection,
    program_id: int,
    paging: Paging = FIRST_PAGE,
    *,
    code: str | None = None,
    span: Span = ALWAYS,
) -> Page[LoggedRejection]:
    """Return a page of a program's rejected calls, newest first; only with `code` if it is given."""
    mine = select(refused_calls).where(refused_calls.c.program_id == program_id, *_within(span))
    if code is not None:
        mine = mine.where(refused_calls.c.code == code)
    return pagination.by_id(connection, mine, refused_calls.c.id, paging, of_row)


def by_cause(connection: Connection, program_id: int, span: Span = ALWAYS) -> list[Cause]:
    """Return the error codes of a program's logged rejections (of the last 30 days), most frequent first."""
    call, count = refused_calls.c, func.count().label("calls")
    grouped = (
        select(call.code, count, func.min(call.at).label("first_at"), func.max(call.at).label("last_at"))
        .where(call.program_id == program_id, *_within(span))
        .group_by(call.code)
        .order_by(count.desc(), call.code)
    )
    at_stake = _at_stake(connection, program_id, span)
    return [
        Cause(row.code, row.calls, row.first_at, row.last_at, tuple(at_stake.get(row.code, ())))
        for row in connection.execute(grouped)
    ]


def _within(span: Span) -> list[ColumnElement[bool]]:
    return pagination.within(refused_calls.c.id, refused_calls.c.at, span)


def _at_stake(connection: Connection, program_id: int, span: Span) -> dict[str, list[AmountAtStake]]:
    """Return the totals of each code's rejected sales: each transaction once, without those recorded since."""
    call = refused_calls.c
    recorded = select(sales.c.id).where(sales.c.program_id == program_id, sales.c.transaction_id == call.transaction_id)
    conflicting = and_(call.code == DuplicateTransaction.code, call.same_payload.is_(False))
    lost = (call.call == "sale", call.currency.is_not(None), or_(conflicting, ~recorded.exists()))
    each = func.coalesce(call.transaction_id, call.request_id)
    transactions = (
        select(call.code, call.currency, func.max(call.amount_cents).label("cents"))
        .where(call.program_id == program_id, call.amount_cents.is_not(None), *lost, *_within(span))
        .group_by(call.code, call.currency, each)
        .subquery("transactions")
    )
    key = (transactions.c.code, transactions.c.currency)
    sums = select(*key, func.sum(transactions.c.cents).label("cents")).group_by(*key).order_by(*key)
    amounts: dict[str, list[AmountAtStake]] = {}
    for row in connection.execute(sums):
        amounts.setdefault(row.code, []).append(AmountAtStake(row.currency, int(row.cents)))
    return amounts


def grouped(
    connection: Connection, program_id: int, paging: Paging, *, code: str | None = None
) -> list[tuple[Cause, Page[LoggedRejection]]]:
    """Return every cause (or the one with `code`) with a page of its calls."""
    causes = [cause for cause in by_cause(connection, program_id) if code in {None, cause.code}]
    return [(cause, list_calls(connection, program_id, paging, code=cause.code)) for cause in causes]


def of_row(row: Any) -> LoggedRejection:
    """Return a rejected call from a row of its table."""
    values = {name: getattr(row, name) for name in LoggedRejection._fields}
    return LoggedRejection(**values | {"fields": tuple(row.fields.split(", ")) if row.fields else ()})
