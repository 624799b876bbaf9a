"""The events that a connected payment account sent, with their outcomes, newest first."""

from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, func, select

from storage.engine import pagination
from storage.engine.pagination import FIRST_PAGE, Page, Paging
from storage.payments import stored_events
from storage.rules.payment import PaymentOutcome
from storage.rules.periods.period import ALWAYS, Span
from storage.tables import customers, payment_events, sales

REPORT_A_PAYMENT = ("checkout.session.completed", "invoice.paid")


class PaymentEvent(NamedTuple):
    """An event: its outcome, and its amount (None without one) in minor units of `currency`.

    `click_id` and `customer_key` are those in its metadata.
    `is_test`: it comes from the processor's test mode, is recorded as a test and earns nothing.
    """

    id: int
    event_id: str
    type: str
    outcome: str
    transaction_id: str | None
    waits_for: str | None
    click_id: str | None
    customer_key: str | None
    amount_cents: int | None
    currency: str | None
    is_test: bool
    occurred_at: datetime
    received_at: datetime


class PayingCustomer(NamedTuple):
    """The customer of a payment; a renewal is not their first purchase."""

    customer_id: int
    customer_key: str | None
    is_renewal: bool


class LatestPayments(NamedTuple):
    """Of the last 50 events: how many there are, how many report a payment, and how many of these name a customer."""

    events: int
    payments: int
    with_customer: int


class OutcomeCount(NamedTuple):
    """The events with one outcome: how many, and the times of the first and the last one."""

    outcome: str
    events: int
    first_at: datetime
    last_at: datetime


def list_events(
    connection: Connection,
    program_id: int,
    paging: Paging = FIRST_PAGE,
    *,
    outcome: str | None = None,
    outcomes: Collection[str] | None = None,
    type_: str | None = None,
    transaction_id: str | None = None,
    is_test: bool | None = None,
    span: Span = ALWAYS,
) -> Page[PaymentEvent]:
    """Return a page of a program's payment events that match the filters, newest first.

    `type_` may be a prefix; `outcomes` are several of which one fits.
    """
    event = payment_events.c
    conditions = [event.program_id == program_id, *pagination.within(event.id, event.received_at, span)]
    equal = {event.outcome: outcome, event.transaction_id: transaction_id, event.is_test: is_test}
    conditions += [column == value for column, value in equal.items() if value is not None]
    if outcomes is not None:
        conditions.append(event.outcome.in_(outcomes))
    if type_ is not None:
        conditions.append(event.type.startswith(type_, autoescape=True))
    return pagination.by_id(connection, select(payment_events).where(*conditions), event.id, paging, of_row)


def count_latest(connection: Connection, program_id: int) -> LatestPayments:
    """Return how many of the last events report a payment, and how many of these name a customer in the metadata."""
    events = list_events(connection, program_id).data
    payments = [event for event in events if event.type in REPORT_A_PAYMENT]
    named = [event for event in payments if event.click_id or event.customer_key]
    return LatestPayments(len(events), len(payments), len(named))


def count_outcomes(connection: Connection, program_id: int, *, span: Span = ALWAYS) -> list[OutcomeCount]:
    """Return how many events had each outcome, most frequent first."""
    event = payment_events.c
    mine = (event.program_id == program_id, *pagination.within(event.id, event.received_at, span))
    count = func.count().label("events")
    times = (func.min(event.received_at), func.max(event.received_at))
    grouped = select(event.outcome, count, *times).where(*mine).group_by(event.outcome)
    return [OutcomeCount(*row) for row in connection.execute(grouped.order_by(count.desc(), event.outcome))]


def count_organic(connection: Connection, program_id: int, *, span: Span = ALWAYS) -> int:
    """Return how many payments named no customer."""
    event = payment_events.c
    mine = (event.program_id == program_id, *pagination.within(event.id, event.received_at, span))
    organic = select(func.count(event.transaction_id.distinct())).where(*mine, event.outcome == PaymentOutcome.ORGANIC)
    return connection.execute(organic).scalar_one()


def first_received_at(connection: Connection, program_id: int, since: datetime) -> datetime | None:
    """Return when the first event since a time was received, None if none was."""
    event = payment_events.c
    mine = (event.program_id == program_id, *pagination.within(event.id, event.received_at, Span(since)))
    return connection.execute(select(event.received_at).where(*mine).order_by(event.id).limit(1)).scalar()


def buyers(connection: Connection, program_id: int, transaction_ids: Iterable[str]) -> dict[str, PayingCustomer]:
    """Return who paid each of these recorded sales."""
    sold = (customers.c.program_id == sales.c.program_id) & (customers.c.id == sales.c.customer_id)
    later = sales.c.occurred_at > customers.c.first_purchase_at
    columns = (sales.c.transaction_id, customers.c.id, customers.c.customer_key, later)
    mine = (sales.c.program_id == program_id, sales.c.transaction_id.in_(set(transaction_ids)))
    rows = connection.execute(select(*columns).join_from(sales, customers, sold).where(*mine))
    return {transaction_id: PayingCustomer(*buyer) for transaction_id, *buyer in rows}


def of_row(row: Any) -> PaymentEvent:
    """Read an event."""
    content = stored_events.load(row.payment) if row.payment else None
    values: dict[str, Any] = {name: getattr(row, name, getattr(content, name, None)) for name in PaymentEvent._fields}
    return PaymentEvent(**values)
