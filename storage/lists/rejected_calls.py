"""The logs of calls: rejected ones, why each was rejected and what is at stake, and those in test mode."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Select, and_, func, or_, select

from storage.engine.cursors import within
from storage.lists.declaration import Column, Filter, List, ListQuery, ListScope, Page
from storage.lists.find import find
from storage.rules.errors import CustomerNotFound, DuplicateTransaction
from storage.rules.periods.period import ALWAYS, Span
from storage.rules.untrusted import Untrusted
from storage.tables import refused_calls, sales, tracking_log

_row = refused_calls.c
MOST_CALLS = 100_000  # of a program, the newest: a flood of rejections makes no read longer
MOST_COMPARED = 20_000
# A sale whose key and click the service has never heard of: mostly no partner sent its customer. It is counted by
# itself and left out of the lists. It is kept for 30 days, for `explain` and to compare the formats of keys.
ORGANIC = and_(_row.call == "sale", _row.code == CustomerNotFound.code)
_RECORDED = (sales.c.program_id == _row.program_id, sales.c.transaction_id == _row.transaction_id)


def _of_sale(column: ColumnElement[Any]) -> ColumnElement[Any]:
    return select(column).where(*_RECORDED).correlate(refused_calls).scalar_subquery()


class RejectedCall(NamedTuple):
    """One rejected call with the program's key; `fields` names the wrong fields.

    `amount_cents` is in minor units of `currency`, of a refund in `sale_currency`; `sale_cents` is the amount of the
    recorded sale. `same_payload`: whether it repeated a recorded sale exactly.
    `caller` is the program and the network that called, `occurred_at` the time that a backfill reported.
    """

    id: int
    at: Annotated[datetime, Column("When")]
    call: Annotated[str, Column("Call", sorts=True)]
    code: Annotated[str, Column("Cause", sorts=True)]
    message: str
    customer_key: Annotated[Untrusted | None, Column("Customer key", sorts=True)]
    click_id: Untrusted | None
    transaction_id: Annotated[Untrusted | None, Column("Transaction", sorts=True)]
    amount_cents: Annotated[int | None, Column("Amount", sorts=True)]
    currency: Untrusted | None
    fields: Annotated[tuple[str, ...], Column("Fields")]
    same_payload: bool | None
    request_id: Annotated[Untrusted | None, Column("Request id")]
    sale_cents: Annotated[int | None, Column(sql=_of_sale(sales.c.amount_cents))]
    sale_currency: Annotated[str | None, Column(sql=_of_sale(sales.c.currency))]
    caller: Untrusted | None
    occurred_at: datetime | None


_FOUND_BY = (_row.transaction_id, _row.customer_key, _row.click_id, _row.request_id)
REJECTED_CALLS = List(
    "refused-calls",
    "Rejected calls",
    "rejected call",
    "Keyed calls that were rejected in the last 30 days",
    RejectedCall,
    refused_calls,
    at=_row.at,
    filters=(
        Filter("code", str, "Only with this error code.", _row.code.__eq__),
        Filter("caller", str, "Only by this caller.", _row.caller.__eq__),
    ),
    finds="Transaction, customer key, click or request id",
    search=lambda _, text: or_(*(column == text for column in _FOUND_BY)),
    only=~ORGANIC,
    may_lag=True,
)
WITH_ORGANIC = replace(REJECTED_CALLS, only=None)


def count_organic(connection: Connection, program_id: int, since: datetime) -> int:
    """Return how many sales of unknown customers were reported since then, at most 30 days ago."""
    later = within(_row.id, _row.at, Span(since))
    mine = (_row.program_id == program_id, among_newest(program_id), *later, ORGANIC)
    return connection.execute(select(func.count()).select_from(refused_calls).where(*mine)).scalar_one()


class LogEntry(NamedTuple):
    """One test-mode call, and the test event that it stored."""

    id: int
    at: datetime
    call: str
    event_id: int | None
    message: str


TRACKING_LOG = List(
    "tracking-log",
    "Tracking log",
    "call",
    "The log of test-mode calls",
    LogEntry,
    tracking_log,
    at=tracking_log.c.at,
    may_lag=True,
)


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


def by_cause(connection: Connection, program_id: int, span: Span = ALWAYS) -> list[Cause]:
    """Return the error codes of a program's newest logged rejections (of the last 30 days), most frequent first."""
    count = func.count()
    mine = (_row.program_id == program_id, among_newest(program_id), *within(_row.id, _row.at, span))
    at_stake = defaultdict[str, list[AmountAtStake]](list)
    for code, currency, cents in connection.execute(_at_stake(mine)):
        at_stake[code].append(AmountAtStake(currency, int(cents)))
    grouped = select(_row.code, count, func.min(_row.at), func.max(_row.at)).where(*mine, ~ORGANIC).group_by(_row.code)
    rows = connection.execute(grouped.order_by(count.desc(), _row.code))
    return [Cause(code, calls, first, last, tuple(at_stake[code])) for code, calls, first, last in rows]


def _at_stake(mine: Sequence[Any]) -> Select[Any]:
    """Return the statement of the totals of each code's sales: each transaction once, without those recorded since."""
    recorded = select(sales.c.id).where(*_RECORDED).exists()
    conflicting = and_(_row.code == DuplicateTransaction.code, _row.same_payload.is_(False))
    has_amount = (_row.currency.is_not(None), _row.amount_cents.is_not(None))
    lost = (*mine, _row.call == "sale", *has_amount, or_(conflicting, ~recorded))
    each = select(_row.code, _row.currency, func.max(_row.amount_cents).label("cents")).where(*lost)
    by_sale = each.group_by(_row.code, _row.currency, func.coalesce(_row.transaction_id, _row.request_id))
    transactions = by_sale.subquery()
    key = (transactions.c.code, transactions.c.currency)
    return select(*key, func.sum(transactions.c.cents)).group_by(*key).order_by(*key)


def among_newest(program_id: int) -> ColumnElement[bool]:
    """Return the condition that a call is one of the program's newest MOST_CALLS."""
    mine = select(_row.id).where(_row.program_id == program_id).order_by(_row.id.desc())
    return _row.id > func.coalesce(mine.offset(MOST_CALLS).limit(1).scalar_subquery(), 0)


def with_recorded_sales(connection: Connection, program_id: int, span: Span) -> list[Any]:
    """Return the newest rejected sales and refunds with the recorded sale; not those that repeat it. Oldest first."""
    columns = (_row.call, _row.code, _row.fields, _row.customer_key, _row.click_id, _row.transaction_id)
    amounts = (_row.request_id, _row.amount_cents, _row.currency, _row.same_payload)
    sold = (sales.c.id.label("sale_id"), sales.c.currency.label("sale_currency"))
    joined = select(*columns, *amounts, *sold).outerjoin_from(refused_calls, sales, and_(*_RECORDED))
    mine = joined.where(_row.program_id == program_id, _row.call.in_(("sale", "refund")))
    newest = mine.where(*within(_row.id, _row.at, span)).order_by(_row.id.desc()).limit(MOST_COMPARED)
    return [row for row in connection.execute(newest).all()[::-1] if not row.same_payload]


def grouped(
    connection: Connection, scope: ListScope, *, limit: int, code: str | None = None
) -> list[tuple[Cause, Page[RejectedCall]]]:
    """Return every cause (or the one with `code`) with the latest of its calls."""
    causes = [cause for cause in by_cause(connection, scope.program_id) if code in {None, cause.code}]
    queries = [ListQuery(limit, filters={"code": cause.code}) for cause in causes]
    pages = [find(connection, REJECTED_CALLS, scope, query) for query in queries]
    return list(zip(causes, pages, strict=True))
