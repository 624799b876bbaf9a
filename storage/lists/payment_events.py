"""The list of what a connected payment account sent, and what became of each event."""

from datetime import datetime
from functools import partial
from typing import Annotated, Any, NamedTuple

from sqlalchemy import BigInteger, ColumnElement, case, cast, func, or_, select

from storage.engine.expressions import JsonField
from storage.lists.declaration import Column, Filter, List, ListScope
from storage.payments import event_log
from storage.rules import errors
from storage.rules.payment import PaymentOutcome
from storage.rules.untrusted import Untrusted
from storage.tables import payment_event_names, payment_events

REJECTED = (
    *(errors.AttributionWindowExpired, errors.CurrencyNotSupported, errors.CustomerNotAttributed),
    *(errors.DuplicateTransaction, errors.IdentifierConflict, errors.SaleBeforeClick),
)
TO_DO = {
    *(PaymentOutcome.HELD, PaymentOutcome.WAITING, PaymentOutcome.UNKNOWN_CUSTOMER),
    *(error.code for error in REJECTED),
}
_row = payment_events.c


def _content(name: str) -> ColumnElement[Any]:
    """Return a field of the stored payment (storage/payments/event_log.py), null for other events."""
    stored = _row.payment
    return func.coalesce(JsonField(stored, name), JsonField(JsonField(stored, "Paid"), name))


CURRENCY = _content("currency")
_cents = case((CURRENCY.is_not(None), cast(_content("amount_cents"), BigInteger)))


class PaymentEvent(NamedTuple):
    """An event of the payment account; amounts are in minor units of `currency`, null if the event has no amount.

    `click_id` and `customer_key` are those in its metadata.
    `is_test`: of the processor's test mode; it is recorded as a test, and earns nothing.
    """

    id: int
    event_id: str
    received_at: Annotated[datetime, Column("Received")]
    occurred_at: datetime
    type: Annotated[str, Column("Event", sorts=True)]
    outcome: Annotated[str, Column("Outcome", sorts=True)]
    transaction_id: Annotated[Untrusted | None, Column("Transaction", sorts=True)]
    waits_for: Untrusted | None
    customer_key: Annotated[Untrusted | None, Column(sql=_content("customer_key"))]
    click_id: Annotated[Untrusted | None, Column(sql=_content("click_id"))]
    amount_cents: Annotated[int | None, Column("Amount", _cents, sorts=True, is_summed=True)]
    currency: Annotated[str | None, Column(sql=CURRENCY)]
    is_test: bool


_waits = _row.outcome.in_(TO_DO)
_begins = partial(_row.type.startswith, autoescape=True)


def _search(scope: ListScope, text: str) -> ColumnElement[bool]:
    named = payment_event_names.c
    names = [text, event_log.CLICK + text, event_log.KEY + text]
    events = select(named.event_id).where(named.program_id == scope.program_id, named.name.in_(names))
    return or_(_row.event_id == text, _row.transaction_id == text, _row.event_id.in_(events), _begins(text))


PAYMENT_EVENTS = List(
    "payment-events",
    PaymentEvent,
    payment_events,
    about="The events of the payment account and their outcomes, possible duplicates included",
    at=_row.received_at,
    filters=(
        Filter(
            "outcome",
            str,
            "recorded, repeated, linked, waiting, settling, unknown_customer (its customer_key has no lead), "
            "organic (it names no customer), held_as_duplicate, same_sale, not_referred, ignored, test, "
            "or an error code.",
            _row.outcome.__eq__,
        ),
        Filter("to_do", bool, "Only those that wait for a decision, or all others.", _waits.is_, is_for_pages=True),
        Filter("type", str, "Only types that begin with it, such as charge.dispute.", _begins),
        Filter("transaction_id", str, "Only those of this payment.", _row.transaction_id.__eq__),
        Filter("test", bool, "Only those of the processor's test mode (true), or none of them.", _row.is_test.__eq__),
    ),
    finds="An id, or the start of a type",
    search=_search,
)
