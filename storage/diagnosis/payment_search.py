"""Finds a payment by any of the processor's ids, or by the customer in its metadata."""

from typing import Any, NamedTuple

from sqlalchemy import Connection, select

from storage.payments import event_log, stored_events
from storage.rules import outcome
from storage.rules.outcome import SaleOutcome
from storage.rules.payment import Paid, PaymentOutcome
from storage.tables import payment_events, payment_references, sales

UNPAID = {SaleOutcome.PAYMENT_NOT_A_SALE, SaleOutcome.PAYMENT_MISSING}
COUNTED = {PaymentOutcome.RECORDED, PaymentOutcome.REPEATED, PaymentOutcome.SAME}


class FoundPayment(NamedTuple):
    """An event about a payment; `sale` is the transaction_id of its recorded sale, `meaning` says why it has none."""

    event_id: str
    meaning: SaleOutcome
    sale: str | None
    transaction_id: str | None
    click_id: str | None
    customer_key: str | None


def find(
    connection: Connection,
    program_id: int,
    *,
    transaction_id: str | None = None,
    customer_key: str | None = None,
    click_id: str | None = None,
) -> FoundPayment | None:
    """Return the newest recorded payment of an identifier, else its newest payment, else any event that names it."""
    names = [transaction_id] if transaction_id else []
    names += [event_log.key_name(customer_key)] if customer_key else []
    names += [event_log.click_name(click_id)] if click_id else []
    events = [*_by_id(connection, program_id, transaction_id), *event_log.find(connection, program_id, names)]
    for reference in [row.transaction_id for row in events if row.outcome in COUNTED] + [transaction_id]:
        sale = reference and _sale_of(connection, program_id, reference)
        if sale:
            return FoundPayment("", SaleOutcome.CREDITED, sale, sale, None, None)
    found = sorted(map(_of_row, events), key=lambda each: each.meaning in UNPAID)
    return found[0] if found else None


def _by_id(connection: Connection, program_id: int, event_id: str | None) -> list[Any]:
    event = payment_events.c
    if event_id is None:
        return []
    mine = select(payment_events).where(event.program_id == program_id, event.event_id == event_id)
    return list(connection.execute(mine))


def _of_row(row: Any) -> FoundPayment:
    content = stored_events.load(row.payment) if row.payment else None
    return FoundPayment(
        event_id=row.event_id,
        meaning=outcome.of_payment(row.outcome, is_payment=isinstance(content, Paid)),
        sale=None,
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
