"""The lists of what reached the service and is looked into: rejected calls, and the events of a payment account."""

from collections.abc import Collection, Mapping
from typing import Any

from sqlalchemy import ColumnElement, Connection, func, or_, select

from storage.engine import listing, pagination
from storage.engine.listing import Columns, Listed, ListQuery
from storage.payments import event_log, received_events, stored_events
from storage.payments.received_events import PaymentEvent
from storage.reading import rejected_calls
from storage.reading.rejected_calls import LoggedRejection
from storage.rules.periods.period import ALWAYS, Span
from storage.tables import payment_event_names, payment_events, refused_calls


def read_rejected(
    connection: Connection,
    program_id: int,
    query: ListQuery,
    *,
    code: str | None = None,
    search: str | None = None,
    span: Span = ALWAYS,
) -> Listed[LoggedRejection]:
    """Return a page of a program's rejected calls; `search` is one of the ids that they sent, or their request id.

    Raises ValidationError for an invalid cursor.
    """
    row = refused_calls.c
    matching = select(row.id).where(row.program_id == program_id, *pagination.within(row.id, row.at, span))
    if code is not None:
        matching = matching.where(row.code == code)
    if search is not None:
        named = (row.transaction_id, row.customer_key, row.click_id, row.request_id)
        matching = matching.where(or_(*(column == search for column in named)))
    rows = select(refused_calls).where(row.program_id == program_id)
    texts = {"call": row.call, "code": row.code, "customer": row.customer_key, "transaction": row.transaction_id}
    columns = Columns(row.id, _sorts(texts, row.amount_cents))
    return listing.read(connection, matching, rows, columns, query, of_row=rejected_calls.of_row)


def read_payments(
    connection: Connection,
    program_id: int,
    query: ListQuery,
    *,
    outcomes: Collection[str] | None = None,
    search: str | None = None,
    span: Span = ALWAYS,
) -> Listed[PaymentEvent]:
    """Return a page of a program's payment events; `search` is an id of theirs or of the customer, or starts the type.

    Raises ValidationError for an invalid cursor.
    """
    row, named = payment_events.c, payment_event_names.c
    matching = select(row.id).where(row.program_id == program_id, *pagination.within(row.id, row.received_at, span))
    if outcomes is not None:
        matching = matching.where(row.outcome.in_(outcomes))
    if search is not None:
        names = [search, event_log.click_name(search), event_log.key_name(search)]
        events = select(named.event_id).where(named.program_id == program_id, named.name.in_(names))
        ids = (row.event_id == search, row.transaction_id == search, row.event_id.in_(events))
        matching = matching.where(or_(*ids, row.type.startswith(search, autoescape=True)))
    rows = select(payment_events).where(row.program_id == program_id)
    amount, currency = stored_events.amount_cents(row.payment), stored_events.currency(row.payment)
    texts = {"type": row.type, "outcome": row.outcome, "transaction": row.transaction_id}
    columns = Columns(row.id, _sorts(texts, amount), amount=amount, currency=currency)
    return listing.read(connection, matching, rows, columns, query, of_row=received_events.of_row)


def _sorts(texts: Mapping[str, ColumnElement[Any]], amount: ColumnElement[Any]) -> Mapping[str, ColumnElement[Any]]:
    return {**{name: func.coalesce(text, "") for name, text in texts.items()}, "amount": func.coalesce(amount, 0)}
