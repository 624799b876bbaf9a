"""The events of all kinds as one statement, to sort them by what they have in common and to add up their amounts."""

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    Select,
    String,
    cast,
    func,
    literal,
    null,
    select,
    union_all,
)

from storage.engine.listing import Columns
from storage.reading import event_filters, event_kinds
from storage.reading.event_filters import EventFilter
from storage.reading.event_kinds import Event, EventKind


def every(program_id: int, kinds: Iterable[EventKind], match: EventFilter) -> tuple[Select[Any], Columns]:
    """Return the statement of the events that match, and its columns; an id is the kind, a colon and the event's id.

    A refund's amount is below zero. Amounts are sorted by what they are in the program's currency.
    """
    event = union_all(*(_of_kind(kind, program_id, match) for kind in kinds)).subquery("event").c
    sorts = {"kind": event.key, "partner": event.partner, "customer": event.customer, "amount": event.program_cents}
    return select(event.key), Columns(event.key, sorts, amount=event.amount_cents, currency=event.currency)


def get_each(connection: Connection, program_id: int, keys: Sequence[str]) -> list[Event]:
    """Return the events with these ids, in their order."""
    found: dict[str, Event] = {}
    for kind in {EventKind(key.partition(":")[0]) for key in keys}:
        source = event_kinds.source(kind)
        ids = [source.order.type.python_type(key.partition(":")[2]) for key in keys if key.startswith(f"{kind}:")]
        mine = (source.order.table.c.program_id == program_id, source.order.in_(ids))
        events = [event_kinds.of_row(kind, row) for row in connection.execute(source.statement.where(*mine))]
        found |= {f"{kind}:{event.id}": event for event in events}
    return [found[key] for key in keys if key in found]


def _of_kind(kind: EventKind, program_id: int, match: EventFilter) -> Select[Any]:
    source = event_kinds.source(kind)
    columns, sign = source.statement.selected_columns, -1 if kind == EventKind.REFUND else 1

    def text(name: str) -> ColumnElement[Any]:
        return func.lower(func.coalesce(columns[name], "")) if name in columns else literal("", String)

    def cents(name: str) -> ColumnElement[Any]:
        is_money = "currency" in columns and name in columns
        return columns[name] * sign if is_money else cast(null(), BigInteger)

    narrow = source.statement.with_only_columns(
        (literal(f"{kind}:", String) + cast(source.order, String)).label("key"),
        text("partner_code").label("partner"),
        text("customer_key").label("customer"),
        cents("amount_cents").label("amount_cents"),
        func.coalesce(cents("program_cents"), 0).label("program_cents"),
        (columns.currency if "currency" in columns else cast(null(), String)).label("currency"),
        maintain_column_froms=True,
    )
    mine = source.order.table.c.program_id == program_id
    return narrow.where(mine, *event_filters.conditions(kind, program_id, match))
