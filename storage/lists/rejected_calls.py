"""The logs of calls: rejected ones, why each was rejected and what is at stake, and those in test mode."""

from dataclasses import replace
from datetime import datetime
from functools import partial
from itertools import groupby
from typing import Annotated, Any, NamedTuple

from sqlalchemy import Boolean, ColumnElement, Connection, and_, or_, select

from storage.engine.cursors import in_span
from storage.engine.statements import read_statement
from storage.lists.declaration import Column, Filter, List, ListQuery, ListScope, Page
from storage.lists.find import find
from storage.rules.errors import CustomerNotFound
from storage.rules.periods.period import ALWAYS, Span
from storage.rules.untrusted import Untrusted
from storage.tables import refused_calls, sales, tracking_log
from storage.tables.columns import Timestamp

_row = refused_calls.c
MOST_CALLS = 100_000  # of a program, the newest: a flood of rejections makes no read longer
MOST_COMPARED = 20_000
_CAUSES = read_statement("rejected_causes", first_at=Timestamp, last_at=Timestamp)
_ORGANIC = read_statement("organic_sales")
_SALES = read_statement("rejected_sales", same_payload=Boolean, is_refunded=Boolean)
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
    coupon_code: Untrusted | None
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
    RejectedCall,
    refused_calls,
    title="Rejected calls",
    one="rejected call",
    about="Keyed calls that were rejected in the last 30 days",
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
    return connection.execute(_ORGANIC, in_span(program_id, Span(since)) | {"most": MOST_CALLS}).scalar_one()


class LogEntry(NamedTuple):
    """One test-mode call, and the test event that it stored."""

    id: int
    at: datetime
    call: str
    event_id: int | None
    message: str


TRACKING_LOG = List(
    "tracking-log",
    LogEntry,
    tracking_log,
    one="call",
    about="The log of test-mode calls",
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
    rows = connection.execute(_CAUSES, in_span(program_id, span) | {"most": MOST_CALLS})
    causes = []
    for (code, calls, first_at, last_at), stakes in groupby(rows, key=lambda row: row[:4]):
        lost = tuple(AmountAtStake(each.currency, int(each.cents)) for each in stakes if each.currency is not None)
        causes.append(Cause(code, calls, first_at, last_at, lost))
    return causes


def with_recorded_sales(connection: Connection, program_id: int, span: Span) -> list[Any]:
    """Return the newest rejected sales and refunds with the recorded sale; not those that repeat it. Oldest first."""
    newest = connection.execute(_SALES, in_span(program_id, span) | {"most": MOST_COMPARED}).all()
    return [row for row in newest[::-1] if not row.same_payload]


def grouped(
    connection: Connection, scope: ListScope, *, limit: int, code: str | None = None
) -> list[tuple[Cause, Page[RejectedCall]]]:
    """Return every cause (or the one with `code`) with the latest of its calls."""
    causes = [cause for cause in by_cause(connection, scope.program_id) if code in {None, cause.code}]
    latest = partial(find, connection, REJECTED_CALLS, scope)
    return [(cause, latest(ListQuery(limit, filters={"code": cause.code}))) for cause in causes]
