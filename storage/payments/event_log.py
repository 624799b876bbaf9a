"""The log of a payment account's events: each once, with its outcome, its content and the names it is found by."""

import json
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, and_, select

from storage.engine import ids
from storage.engine.database import insert_for
from storage.rules.payment import (
    Content,
    Introduced,
    Linked,
    Paid,
    PaymentOutcome,
    ProcessorEvent,
    Returned,
    ReturnKind,
)
from storage.tables import payment_event_names, payment_events

VERSION = 1  # of the JSON in which the database stores an event's content, beside its type and its named fields
KINDS: dict[str, type[Content]] = {"paid": Paid, "returned": Returned, "linked": Linked, "introduced": Introduced}
READERS: dict[str, Callable[[Any], Any]] = {
    "references": tuple,
    "occurred_at": datetime.fromisoformat,
    "told_at": datetime.fromisoformat,
    "kind": ReturnKind,
    "listed": lambda stored: tuple(_read(Returned, each) for each in stored),
}
MOST_OF_A_NAME = 100
CLICK, KEY = "click_id:", "customer_key:"  # before what a payment's metadata names, in the names of its event
UNLINKED = (
    *(PaymentOutcome.WAITING, PaymentOutcome.SETTLING),
    *(PaymentOutcome.UNKNOWN_CUSTOMER, PaymentOutcome.ORGANIC),
)


def add(connection: Connection, program_id: int, event: ProcessorEvent, *, at: datetime) -> bool:
    """Log an event with its names; return False if it is logged already."""
    row = {"program_id": program_id, "event_id": event.id, "id": ids.after(at, 1)[0], "outcome": PaymentOutcome.WAITING}
    row |= {name: getattr(event, name) for name in ("type", "occurred_at", "is_test")} | {"received_at": at}
    row["payment"] = None if event.content is None else dump(event.content)
    new = insert_for(connection)(payment_events).values(**row).on_conflict_do_nothing()
    if connection.execute(new.returning(payment_events.c.event_id)).scalar() is None:
        return False
    names = dict.fromkeys((*event.names, *customer_names(event.content)))
    rows = [{"program_id": program_id, "name": name, "event_id": event.id} for name in names]
    if rows:
        connection.execute(insert_for(connection)(payment_event_names).values(rows))
    return True


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
    named = ((CLICK, content.click_id), (KEY, content.customer_key))
    return [f"{prefix}{name}" for prefix, name in named if name]


def dump(content: Content) -> str:
    """Return an event's content as JSON for storage."""
    kind = next(name for name, each in KINDS.items() if isinstance(content, each))
    fields = content._asdict()
    if isinstance(content, Returned):
        fields["listed"] = [each._asdict() for each in content.listed]
    return json.dumps({"version": VERSION, "type": kind, **fields}, default=datetime.isoformat)


def load(stored: str | None) -> Content | None:
    """Return an event's content, if it has one, also from the format before versions: `{"Paid": {...}}`."""
    if not stored:
        return None
    fields = json.loads(stored)
    if "version" not in fields:
        [(name, content)] = fields.items()
        fields = {"version": VERSION, "type": name.lower(), **content}
    version, kind = fields["version"], fields["type"]
    if version != VERSION or kind not in KINDS:
        raise ValueError(f"A newer release stored this event (version {version}, {kind}): upgrade this one.")
    return _read(KINDS[kind], fields)


def _read(kind: type[Content], fields: dict[str, Any]) -> Any:
    stored = {name: fields[name] for name in kind._fields if name in fields}
    return kind(**{name: READERS[name](value) if name in READERS else value for name, value in stored.items()})
