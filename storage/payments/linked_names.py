"""The names of payments: which sale has one of them, what other events say that belongs to it, and what repeats it."""

from typing import Any

from sqlalchemy import Connection, and_, or_, select

from storage.payments import event_log, stored_events
from storage.rules.payment import Linked, Paid, PaymentOutcome
from storage.rules.reconciliation import WITHIN
from storage.tables import payment_references, sales
from storage.tracking.customers import Customer

INTENTS = ("pi_", "ch_", "py_")  # how the names of what pays begin


def find_sale(connection: Connection, program_id: int, references: tuple[str, ...]) -> str | None:
    """Return the transaction_id if this payment is already a sale; a checkout and its invoice are one payment."""
    known = payment_references.c
    mine = (known.program_id == program_id, known.reference.in_(references))
    return connection.execute(select(known.transaction_id).where(*mine).limit(1)).scalar()


def with_links(connection: Connection, program_id: int, paid: Paid) -> Paid:
    """Return a payment with the names that other events link to it."""
    stored = event_log.find(connection, program_id, paid.references)
    contents = [stored_events.load(row.payment) for row in stored if row.payment]
    linked = [name for each in contents if isinstance(each, Linked) for name in each.references]
    return paid._replace(references=tuple(dict.fromkeys((*paid.references, *linked))))


def whole_of(connection: Connection, program_id: int, paid: Paid) -> tuple[Paid | None, str]:
    """Return what a bare payment is part of, as its invoice or checkout reports it, and that event's outcome."""
    for row in event_log.find(connection, program_id, paid.references):
        content = stored_events.load(row.payment) if row.payment and row.outcome != PaymentOutcome.IGNORED else None
        if isinstance(content, Paid) and not content.is_bare:
            names = tuple(dict.fromkeys((*content.references, *paid.references)))
            named = content._replace(references=names, click_id=paid.click_id, customer_key=paid.customer_key)
            return named, row.outcome
    return None, ""


def possible_duplicate(connection: Connection, program_id: int, paid: Paid, customer: Customer) -> Any:
    """Return the row of a sale that another report made and that may be this payment; None without one.

    It is the API's, by id or because it is similar; or a similar payment, one of them bare and the other without the
    name of what paid it, so that nothing links the two.
    """
    sale = sales.c
    within = sale.occurred_at.between(paid.occurred_at - WITHIN, paid.occurred_at + WITHIN)
    same = (sale.amount_cents == paid.amount_cents, sale.currency == paid.currency)
    alike = and_(sale.customer_id == customer.id, *same, within)
    references = payment_references.c
    of_payments = select(references.transaction_id).where(references.program_id == program_id)
    intents = of_payments.where(or_(*(references.reference.startswith(each, autoescape=True) for each in INTENTS)))
    by_api = and_(or_(alike, sale.transaction_id == paid.transaction_id), sale.transaction_id.not_in(of_payments))
    if paid.is_bare:
        unlinked = and_(sale.transaction_id.in_(of_payments), sale.transaction_id.not_in(intents))
    else:
        unlinked = sale.transaction_id.in_(intents.where(references.reference == sale.transaction_id))
    may_be_apart = paid.is_bare or not any(name.startswith(INTENTS) for name in paid.references)
    either = or_(by_api, and_(alike, unlinked)) if may_be_apart else by_api
    mine = (sale.program_id == program_id, either)
    return connection.execute(select(sales).where(*mine).order_by(sale.id).limit(1)).one_or_none()
