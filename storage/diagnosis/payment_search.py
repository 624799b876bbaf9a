"""Finds a payment by any of the processor's ids, or by the customer in its metadata."""

from typing import Any, NamedTuple

from sqlalchemy import Connection, select

from storage.payments import event_log
from storage.rules import outcome
from storage.rules.outcome import SaleOutcome
from storage.rules.payment import Paid, PaymentOutcome
from storage.tables import payment_events, payment_references, sales

UNPAID = {SaleOutcome.PAYMENT_NOT_A_SALE, SaleOutcome.PAYMENT_MISSING}
COUNTED = {PaymentOutcome.RECORDED, PaymentOutcome.REPEATED, PaymentOutcome.SAME}


class Subject(NamedTuple):
    """The identifier to explain; exactly one of the three is set."""

    transaction_id: str | None = None
    customer_key: str | None = None
    click_id: str | None = None


class FoundPayment(NamedTuple):
    """An event about a payment without a recorded sale; `meaning` says why it has none."""

    event_id: str
    meaning: SaleOutcome
    transaction_id: str | None
    click_id: str | None
    customer_key: str | None


def find(connection: Connection, program_id: int, subject: Subject) -> FoundPayment | str | None:
    """Return the transaction_id of the newest recorded payment's sale, else the newest payment, else any event."""
    transaction_id, customer_key, click_id = subject
    names = [transaction_id] if transaction_id else []
    names += [event_log.KEY + customer_key] if customer_key else []
    names += [event_log.CLICK + click_id] if click_id else []
    event = payment_events.c
    by_id = select(payment_events).where(event.program_id == program_id, event.event_id == (transaction_id or ""))
    events = [*connection.execute(by_id), *event_log.find(connection, program_id, names)]
    for reference in [row.transaction_id for row in events if row.outcome in COUNTED] + [transaction_id]:
        if reference and (sale := _sale_of(connection, program_id, reference)):
            return sale
    found = sorted(map(_of_row, events), key=lambda each: each.meaning in UNPAID)
    return found[0] if found else None


def _of_row(row: Any) -> FoundPayment:
    content = event_log.load(row.payment)
    return FoundPayment(
        event_id=row.event_id,
        meaning=outcome.of_payment(row.outcome, is_payment=isinstance(content, Paid)),
        transaction_id=row.transaction_id,
        click_id=getattr(content, "click_id", None),
        customer_key=getattr(content, "customer_key", None),
    )


def _sale_of(connection: Connection, program_id: int, reference: str) -> str | None:
    """Return the transaction_id of the sale that a payment's id leads to."""
    known = payment_references.c
    mine = (known.program_id == program_id, known.reference == reference)
    transaction_id = connection.execute(select(known.transaction_id).where(*mine)).scalar() or reference
    sale = (sales.c.program_id == program_id, sales.c.transaction_id == transaction_id)
    return connection.execute(select(sales.c.transaction_id).where(*sale)).scalar()
