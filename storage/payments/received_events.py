"""The events that a connected payment account sent, with their outcomes, newest first."""

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection, func, select

from storage.engine.cursors import within
from storage.payments import stored_events
from storage.rules.payment import PaymentOutcome
from storage.rules.periods.period import ALWAYS, Span
from storage.rules.untrusted import Untrusted
from storage.tables import customers, payment_events, sales

LATEST = 50
REPORT_A_PAYMENT = ("checkout.session.completed", "invoice.paid")


class PayingCustomer(NamedTuple):
    """The customer of a payment; a renewal is not their first purchase."""

    customer_id: int
    customer_key: Untrusted | None
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


def count_latest(connection: Connection, program_id: int) -> LatestPayments:
    """Return how many of the last events report a payment, and how many of these name a customer in the metadata."""
    event = payment_events.c
    newest = select(event.type, event.payment).where(event.program_id == program_id).order_by(event.id.desc())
    events = connection.execute(newest.limit(LATEST)).all()
    payments = [stored_events.load(row.payment) for row in events if row.type in REPORT_A_PAYMENT and row.payment]
    named = [each for each in payments if getattr(each, "click_id", None) or getattr(each, "customer_key", None)]
    return LatestPayments(len(events), sum(row.type in REPORT_A_PAYMENT for row in events), len(named))


def count_outcomes(connection: Connection, program_id: int, *, span: Span = ALWAYS) -> list[OutcomeCount]:
    """Return how many events had each outcome, most frequent first."""
    event = payment_events.c
    mine = (event.program_id == program_id, *within(event.id, event.received_at, span))
    count = func.count().label("events")
    times = (func.min(event.received_at), func.max(event.received_at))
    grouped = select(event.outcome, count, *times).where(*mine).group_by(event.outcome)
    return [OutcomeCount(*row) for row in connection.execute(grouped.order_by(count.desc(), event.outcome))]


def count_organic(connection: Connection, program_id: int, *, span: Span = ALWAYS) -> int:
    """Return how many payments named no customer."""
    event = payment_events.c
    mine = (event.program_id == program_id, *within(event.id, event.received_at, span))
    organic = select(func.count(event.transaction_id.distinct())).where(*mine, event.outcome == PaymentOutcome.ORGANIC)
    return connection.execute(organic).scalar_one()


def first_received_at(connection: Connection, program_id: int, since: datetime) -> datetime | None:
    """Return when the first event since a time was received, None if none was."""
    event = payment_events.c
    mine = (event.program_id == program_id, *within(event.id, event.received_at, Span(since)))
    return connection.execute(select(event.received_at).where(*mine).order_by(event.id).limit(1)).scalar()


def buyers(connection: Connection, program_id: int, transaction_ids: Iterable[str]) -> dict[str, PayingCustomer]:
    """Return who paid each of these recorded sales."""
    sold = (customers.c.program_id == sales.c.program_id) & (customers.c.id == sales.c.customer_id)
    later = sales.c.occurred_at > customers.c.first_purchase_at
    columns = (sales.c.transaction_id, customers.c.id, customers.c.customer_key, later)
    mine = (sales.c.program_id == program_id, sales.c.transaction_id.in_(set(transaction_ids)))
    rows = connection.execute(select(*columns).join_from(sales, customers, sold).where(*mine))
    return {transaction_id: PayingCustomer(*buyer) for transaction_id, *buyer in rows}
