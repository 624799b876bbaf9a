"""Reads of what a connected payment account sent: its events' outcomes, who paid, and the disputes, newest first."""

from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, and_, exists, func, select

from storage.engine.cursors import within
from storage.payments import event_log
from storage.rules.payment import PaymentOutcome, Returned, ReturnKind
from storage.rules.periods.period import ALWAYS, Span
from storage.rules.untrusted import Untrusted
from storage.tables import customers, payment_events, payment_references, payment_returns, refunds, sales
from storage.tracking.refunded_sales import OURS

LATEST = 50
MOST_DISPUTES = 500
DISPUTE_CLOSED = "charge.dispute.closed"
OF_SALE = ("transaction_id", "customer_id", "partner_id", "currency")
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
    payments = [event_log.load(row.payment) for row in events if row.type in REPORT_A_PAYMENT]
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


class DisputeState(StrEnum):
    """How a dispute ended: won means that the money came back to the shop."""

    OPEN = "open"
    WON = "won"
    LOST = "lost"


class Dispute(NamedTuple):
    """A dispute; `transaction_id` is None while its sale is not recorded. Money is in cents of the sale's currency."""

    dispute_id: Untrusted
    amount_cents: int
    state: DisputeState
    opened_at: datetime
    closed_at: datetime | None
    transaction_id: Untrusted | None
    customer_id: int | None
    partner_id: int | None
    currency: str | None


def list_disputes(connection: Connection, program_id: int) -> list[Dispute]:
    """Return a program's disputes, newest first, from the newest events about them."""
    event, known = payment_events.c, payment_references.c
    stored = (
        select(payment_events)
        .where(event.program_id == program_id, event.type.startswith("charge.dispute."), event.is_test.is_(False))
        .order_by(event.id.desc())
        .limit(MOST_DISPUTES)
    )
    reported: dict[str, list[tuple[Any, Returned]]] = {}
    for row in connection.execute(stored):
        content = event_log.load(row.payment)
        if isinstance(content, Returned):
            reported.setdefault(content.return_id, []).append((row, content))
    names = {content.reference for each in reported.values() for _, content in each}
    of_sale = and_(sales.c.program_id == known.program_id, sales.c.transaction_id == known.transaction_id)
    sold = select(known.reference, sales).join(sales, of_sale)
    mine = sold.where(known.program_id == program_id, known.reference.in_(names))
    by_name = {row.reference: row for row in connection.execute(mine)}
    return [_dispute(each, by_name) for each in reported.values()]


def of_disputed_sale() -> ColumnElement[bool]:
    """Match refunds that the processor reported for a sale of which it also reported a dispute."""
    known, back = payment_references.c, payment_returns.c
    of_payment = and_(back.program_id == known.program_id, back.reference == known.reference)
    reported = select(known.reference).select_from(payment_references.join(payment_returns, of_payment))
    of_sale = (known.program_id == sales.c.program_id, known.transaction_id == sales.c.transaction_id)
    named = exists(reported.where(*of_sale, back.kind == ReturnKind.DISPUTE).correlate(sales))
    return and_(refunds.c.refund_id.is_not(None), refunds.c.refund_id.startswith(OURS), named)


def _dispute(reported: Iterable[tuple[Any, Returned]], by_name: dict[str, Any]) -> Dispute:
    events = sorted(reported, key=lambda each: (each[0].occurred_at, each[0].type == DISPUTE_CLOSED))
    opened, (last, content) = events[0][0], events[-1]
    is_closed = last.type == DISPUTE_CLOSED
    state = (DisputeState.LOST if content.stands else DisputeState.WON) if is_closed else DisputeState.OPEN
    sale = by_name.get(content.reference)
    of_sale: Any = {name: getattr(sale, name, None) for name in OF_SALE}
    times = (opened.occurred_at, last.occurred_at if is_closed else None)
    return Dispute(content.return_id, content.amount_cents, state, *times, **of_sale)
