"""The events that a connected payment account sent, with their outcomes, newest first."""

from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, select

from storage.engine import pagination
from storage.engine.pagination import FIRST_PAGE, Page, Paging
from storage.payments import stored_events
from storage.tables import payment_events


class PaymentEvent(NamedTuple):
    """An event: its outcome, and its amount (None without one) in minor units of `currency`.

    `is_test`: it comes from the processor's test mode, is recorded as a test and earns nothing.
    """

    id: int
    event_id: str
    type: str
    outcome: str
    transaction_id: str | None
    waits_for: str | None
    amount_cents: int | None
    currency: str | None
    is_test: bool
    occurred_at: datetime
    received_at: datetime


def list_events(
    connection: Connection, program_id: int, paging: Paging = FIRST_PAGE, *, outcome: str | None = None
) -> Page[PaymentEvent]:
    """Return a page of a program's payment events, newest first; only with `outcome` if it is given."""
    event = payment_events.c
    mine = select(payment_events).where(event.program_id == program_id)
    if outcome is not None:
        mine = mine.where(event.outcome == outcome)
    return pagination.by_id(connection, mine, event.id, paging, _of_row)


def _of_row(row: Any) -> PaymentEvent:
    content = stored_events.load(row.payment) if row.payment else None
    values: dict[str, Any] = {name: getattr(row, name, getattr(content, name, None)) for name in PaymentEvent._fields}
    return PaymentEvent(**values)
