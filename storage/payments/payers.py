"""Who paid: the customer whom a payment names by click, key or processor customer; never by e-mail."""

from datetime import datetime

from sqlalchemy import Connection, select

from storage.engine.database import insert_for
from storage.payments import event_log, stored_events
from storage.rules import keys
from storage.rules.payment import Introduced, Paid
from storage.tables import payment_customers
from storage.tracking.customers import Customer, Registry


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
        known = (
            stored_events.load(row.payment)
            for row in event_log.find(connection, program_id, [paid.processor_customer])
            if row.payment
        )
        introduced = next((each for each in known if isinstance(each, Introduced)), None)
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


def remember(connection: Connection, program_id: int, processor_customer: str, customer: Customer) -> None:
    """Save whose the processor's customer is, once."""
    row = {"program_id": program_id, "processor_customer": processor_customer, "click_id": customer.click_id}
    connection.execute(insert_for(connection)(payment_customers).values(**row).on_conflict_do_nothing())


def _linked_click(connection: Connection, program_id: int, paid: Paid | Introduced) -> str | None:
    known = payment_customers.c
    mine = (known.program_id == program_id, known.processor_customer == (paid.processor_customer or ""))
    return connection.execute(select(known.click_id).where(*mine)).scalar()
