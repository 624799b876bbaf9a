"""Late leads: records payments that waited for a customer whose lead has arrived since."""

from datetime import datetime

from sqlalchemy import Connection, and_, func, select

from storage.payments import event_log, processing, stored_events
from storage.rules.payment import Paid, PaymentOutcome
from storage.tables import customers, payment_accounts, payment_event_names, payment_events

AT_ONCE = 100  # each is a sale of its own
NAMING = (PaymentOutcome.WAITING, PaymentOutcome.UNKNOWN_CUSTOMER)
KEY = event_log.key_name("")


def record_waiting(connection: Connection, *, at: datetime) -> int:
    """Try waiting payments again whose customer_key a customer carries by now; return how many there were."""
    account, event, named, customer = payment_accounts.c, payment_events.c, payment_event_names.c, customers.c
    of_account = and_(event.program_id == account.program_id, event.outcome.in_(NAMING))
    of_event = and_(named.program_id == event.program_id, named.event_id == event.event_id, named.name.startswith(KEY))
    carried = and_(
        customer.program_id == named.program_id, customer.customer_key == func.substr(named.name, len(KEY) + 1)
    )
    known = payment_accounts.join(payment_events, of_account).join(payment_event_names, of_event)
    waiting = select(event.program_id, event.event_id, event.payment).select_from(known.join(customers, carried))
    ordered = waiting.order_by(event.program_id, event.occurred_at, event.event_id).limit(AT_ONCE)
    programs = {row.program_id for row in connection.execute(ordered)}
    locked = select(account.program_id).where(account.program_id.in_(programs)).order_by(account.program_id)
    connection.execute(locked.with_for_update())  # a distributed database locks no rows of a join over programs
    rows = connection.execute(ordered.where(event.program_id.in_(programs))).all() if programs else []
    for row in rows:
        paid = stored_events.load(row.payment)
        if isinstance(paid, Paid):
            buyer = processing.find_customer(connection, row.program_id, paid, at)
            done = processing.pay(connection, row.program_id, paid, buyer, at)
            processing.note(connection, row.program_id, row.event_id, paid, done)
            processing.try_again(connection, row.program_id, paid, at)
    return len(rows)
