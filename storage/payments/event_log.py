"""The log of a payment account's events: each once, with its outcome and the names by which it is found."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, and_, select, update

from storage.engine import ids
from storage.engine.database import insert_for
from storage.payments import stored_events
from storage.rules.payment import Content, Introduced, Paid, PaymentOutcome, ProcessorEvent
from storage.tables import payment_event_names, payment_events

MOST_OF_A_NAME = 100
UNLINKED = (
    *(PaymentOutcome.WAITING, PaymentOutcome.SETTLING),
    *(PaymentOutcome.UNKNOWN_CUSTOMER, PaymentOutcome.ORGANIC),
)


def click_name(click_id: str) -> str:
    """Return the name under which the events of a click are found."""
    return f"click_id:{click_id}"


def key_name(customer_key: str) -> str:
    """Return the name under which the events of a customer_key are found."""
    return f"customer_key:{customer_key}"


def add(connection: Connection, program_id: int, event: ProcessorEvent, *, at: datetime) -> bool:
    """Log an event with its names; return False if it is logged already."""
    payment = None if event.content is None else stored_events.dump(event.content)
    row = {"program_id": program_id, "event_id": event.id, "id": ids.after(at, 1)[0], "outcome": PaymentOutcome.WAITING}
    row |= {"type": event.type, "occurred_at": event.occurred_at, "received_at": at, "payment": payment}
    row |= {"is_test": event.is_test}
    new = insert_for(connection)(payment_events).values(**row).on_conflict_do_nothing()
    if connection.execute(new.returning(payment_events.c.event_id)).scalar() is None:
        return False
    names = dict.fromkeys((*event.names, *customer_names(event.content)))
    rows = [{"program_id": program_id, "name": name, "event_id": event.id} for name in names]
    if rows:
        connection.execute(insert_for(connection)(payment_event_names).values(rows))
    return True


def note(connection: Connection, program_id: int, event_id: str, done: Mapping[str, Any]) -> None:
    """Save an event's new outcome."""
    mine = (payment_events.c.program_id == program_id, payment_events.c.event_id == event_id)
    connection.execute(update(payment_events).where(*mine).values(**done))


def waiting_for(connection: Connection, program_id: int, names: Iterable[str]) -> list[tuple[str, Content]]:
    """Return the events that wait for one of these names, in time order, and payments held for what they may repeat."""
    event = payment_events.c
    is_open = event.outcome.in_((*UNLINKED, PaymentOutcome.HELD))
    mine = (event.program_id == program_id, is_open, event.waits_for.in_(list(names)))
    ordered = select(event.event_id, event.outcome, event.payment).where(*mine)
    rows = connection.execute(ordered.order_by(event.occurred_at, event.event_id)).all()
    waiting = [(row.event_id, stored_events.load(row.payment), row.outcome) for row in rows]
    return [(each, content) for each, content, outcome in waiting if outcome in UNLINKED or isinstance(content, Paid)]


def mark_organic(connection: Connection, program_id: int, names: Iterable[str]) -> None:
    """Mark what waits for a payment as organic."""
    event = payment_events.c
    waiting = (event.program_id == program_id, event.outcome == PaymentOutcome.WAITING)
    mine = (*waiting, event.waits_for.in_(list(names)))
    connection.execute(update(payment_events).where(*mine).values(outcome=PaymentOutcome.ORGANIC))


def find(connection: Connection, program_id: int, names: Iterable[str], *, outcome: str | None = None) -> list[Any]:
    """Return the newest events with one of these names, newest first."""
    event, named = payment_events.c, payment_event_names.c
    same = and_(event.program_id == named.program_id, event.event_id == named.event_id)
    rows = select(payment_events).join(payment_event_names, same)
    mine = rows.where(named.program_id == program_id, named.name.in_(list(names)))
    if outcome is not None:
        mine = mine.where(event.outcome == outcome)
    return list(connection.execute(mine.order_by(event.id.desc()).limit(MOST_OF_A_NAME)))


def customer_names(content: Any) -> list[str]:
    """Return the names of the customer whom a payment's metadata names."""
    if not isinstance(content, Paid | Introduced):
        return []
    click = [click_name(content.click_id)] if content.click_id else []
    return click + ([key_name(content.customer_key)] if content.customer_key else [])
