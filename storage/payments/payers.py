"""What a payment's names lead to: its customer (by click, key or processor customer, never by e-mail) and its sale."""

from datetime import datetime
from typing import Any

from sqlalchemy import Connection, and_, or_, select

from storage.engine.database import insert_for
from storage.payments import event_log
from storage.rules import keys
from storage.rules.payment import Introduced, Paid, PaymentOutcome
from storage.rules.reconciliation import WITHIN
from storage.tables import payment_customers, payment_references, sales
from storage.tracking.customers import Customer, Registry

INTENTS = ("pi_", "ch_", "py_")  # how the names of what pays begin


def find(connection: Connection, program_id: int, paid: Paid | Introduced, at: datetime) -> Customer | None:
    """Return the customer of the metadata's click, else of its key, else of the processor.

    For a click whose customer has another key, the processor's customer decides, if they are known. Whose that one is
    may be in their own metadata, too.
    """
    customer = find_named(connection, program_id, paid.click_id, paid.customer_key, at)
    if customer is None or is_another(connection, program_id, paid, customer):
        linked = find_named(connection, program_id, _linked_click(connection, program_id, paid), None, at)
        customer = linked or customer
    if customer is None and isinstance(paid, Paid) and paid.processor_customer:
        known = event_log.find(connection, program_id, [paid.processor_customer])
        contents = (event_log.load(row.payment) for row in known)
        introduced = next((each for each in contents if isinstance(each, Introduced)), None)
        if introduced is not None:
            customer = find_named(connection, program_id, introduced.click_id, introduced.customer_key, at)
    return customer


def find_named(
    connection: Connection, program_id: int, click_id: str | None, customer_key: str | None, at: datetime
) -> Customer | None:
    """Return the customer of a click, else the one who has a key."""
    own_click_id = click_id if keys.click_program(click_id or "") == program_id else None
    registry = Registry(connection, [(program_id, customer_key, own_click_id)], at=at)
    return registry.by_click(own_click_id) or registry.by_key(program_id, customer_key)


def is_another(connection: Connection, program_id: int, paid: Paid | Introduced, customer: Customer) -> bool:
    """Return whether a second account may have paid in the customer's browser: the metadata has another key.

    It is theirs if the processor's customer already is.
    """
    differs = paid.click_id == customer.click_id and customer.has_other_key(paid.customer_key)
    return differs and _linked_click(connection, program_id, paid) != customer.click_id


def remember(
    connection: Connection, program_id: int, processor_customer: str | None, customer: Customer | None
) -> None:
    """Save whose the processor's customer is, once, if both are known."""
    if processor_customer and customer:
        row = {"program_id": program_id, "processor_customer": processor_customer, "click_id": customer.click_id}
        connection.execute(insert_for(connection)(payment_customers).values(**row).on_conflict_do_nothing())


def _linked_click(connection: Connection, program_id: int, paid: Paid | Introduced) -> str | None:
    known = payment_customers.c
    mine = (known.program_id == program_id, known.processor_customer == (paid.processor_customer or ""))
    return connection.execute(select(known.click_id).where(*mine)).scalar()


def find_sale(connection: Connection, program_id: int, references: tuple[str, ...]) -> str | None:
    """Return the transaction_id if this payment is already a sale; a checkout and its invoice are one payment."""
    known = payment_references.c
    mine = (known.program_id == program_id, known.reference.in_(references))
    return connection.execute(select(known.transaction_id).where(*mine).limit(1)).scalar()


def whole_of(connection: Connection, program_id: int, paid: Paid) -> tuple[Paid | None, str]:
    """Return what a bare payment is part of, as its invoice or checkout reports it, and that event's outcome."""
    for row in event_log.find(connection, program_id, paid.references):
        content = event_log.load(row.payment)
        if isinstance(content, Paid) and not content.is_bare and row.outcome != PaymentOutcome.IGNORED:
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
