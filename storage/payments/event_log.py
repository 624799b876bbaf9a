"""The log of a payment account's events: each once, with its outcome, its content and its names; and what it says."""

import json
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple

from sqlalchemy import Boolean, ColumnElement, Connection, and_, exists, select

from storage import tables
from storage.engine import ids
from storage.engine.cursors import in_span
from storage.engine.database import insert_for
from storage.engine.statements import read_statement
from storage.rules import payment
from storage.rules.payment import Content, Introduced, Linked, Paid, PaymentOutcome, ProcessorEvent, Returned
from storage.rules.periods.period import ALWAYS, Span
from storage.rules.untrusted import Untrusted
from storage.tables.columns import Timestamp
from storage.tracking.refunded_sales import OURS

VERSION = 1  # of the JSON in which the database stores an event's content, beside its type and its named fields
KINDS: dict[str, type[Content]] = {"paid": Paid, "returned": Returned, "linked": Linked, "introduced": Introduced}
READERS: dict[str, Callable[[Any], Any]] = {
    "references": tuple,
    "occurred_at": datetime.fromisoformat,
    "told_at": datetime.fromisoformat,
    "kind": payment.ReturnKind,
    "listed": lambda stored: tuple(_read(Returned, each) for each in stored),
}
MOST_OF_A_NAME = 100
CLICK, KEY = "click_id:", "customer_key:"  # before what a payment's metadata names, in the names of its event
UNLINKED = (PaymentOutcome.WAITING, PaymentOutcome.SETTLING, PaymentOutcome.UNKNOWN_CUSTOMER, PaymentOutcome.ORGANIC)
LATEST = 50
MOST_DISPUTES = 500
_BUYERS = read_statement("payment_buyers", is_renewal=Boolean)
_FIRST = read_statement("payment_first", received_at=Timestamp)
_OUTCOMES = read_statement("payment_outcomes", first_at=Timestamp, last_at=Timestamp)
_SALES = read_statement("payment_sales")
_NAMED = read_statement("payment_events_named", occurred_at=Timestamp, received_at=Timestamp, is_test=Boolean)
DISPUTE_CLOSED = "charge.dispute.closed"
OF_SALE = ("transaction_id", "customer_id", "partner_id", "currency")
REPORT_A_PAYMENT = ("checkout.session.completed", "invoice.paid")


def add(connection: Connection, program_id: int, event: ProcessorEvent, *, at: datetime) -> bool:
    """Log an event with its names; return False if it is logged already."""
    row = {"program_id": program_id, "event_id": event.id, "id": ids.after(at, 1)[0], "outcome": PaymentOutcome.WAITING}
    row |= {name: getattr(event, name) for name in ("type", "occurred_at", "is_test")} | {"received_at": at}
    row["payment"] = None if event.content is None else dump(event.content)
    new = insert_for(connection)(tables.payment_events).values(**row).on_conflict_do_nothing()
    if connection.execute(new.returning(tables.payment_events.c.event_id)).scalar() is None:
        return False
    names = dict.fromkeys((*event.names, *customer_names(event.content)))
    rows = [{"program_id": program_id, "name": name, "event_id": event.id} for name in names]
    if rows:
        connection.execute(insert_for(connection)(tables.payment_event_names).values(rows))
    return True


def find(connection: Connection, program_id: int, names: Iterable[str], *, outcome: str = "") -> Sequence[Any]:
    """Return the newest events with one of these names, newest first; with one outcome, if it is not empty."""
    values = {"program_id": program_id, "names": list(names), "outcome": outcome, "most": MOST_OF_A_NAME}
    return connection.execute(_NAMED, values).all()


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


class PayingCustomer(NamedTuple):
    """The customer of a payment; a renewal is not their first purchase."""

    customer_id: int
    customer_key: Untrusted | None
    is_renewal: bool


class LatestPayments(NamedTuple):
    """Of the payment account's last 50 events: how many report a payment, how many of these name a customer."""

    events: int
    payments: int
    with_customer: int


def count_latest(connection: Connection, program_id: int) -> LatestPayments:
    """Return how many of the last events report a payment, and how many of these name a customer in the metadata."""
    event = tables.payment_events.c
    newest = select(event.type, event.payment).where(event.program_id == program_id).order_by(event.id.desc())
    events = connection.execute(newest.limit(LATEST)).all()
    payments = [load(row.payment) for row in events if row.type in REPORT_A_PAYMENT]
    named = [each for each in payments if getattr(each, "click_id", None) or getattr(each, "customer_key", None)]
    return LatestPayments(len(events), sum(row.type in REPORT_A_PAYMENT for row in events), len(named))


def count_outcomes(connection: Connection, program_id: int, *, span: Span = ALWAYS) -> Sequence[Any]:
    """Return each outcome, most frequent first: its `events`, of how many `payments`, its `first_at` and `last_at`."""
    return connection.execute(_OUTCOMES, in_span(program_id, span)).all()


def first_received_at(connection: Connection, program_id: int, since: datetime) -> datetime | None:
    """Return when the first event since a time was received, None if none was."""
    return connection.execute(_FIRST, in_span(program_id, Span(since))).scalar()


def buyers(connection: Connection, program_id: int, transaction_ids: Iterable[str]) -> dict[str, PayingCustomer]:
    """Return who paid each of these recorded sales."""
    rows = connection.execute(_BUYERS, {"program_id": program_id, "transaction_ids": list(transaction_ids)})
    return {transaction_id: PayingCustomer(*buyer) for transaction_id, *buyer in rows}


class DisputeState(StrEnum):
    """How a dispute ended: won means that the money came back to the shop."""

    OPEN = "open"
    WON = "won"
    LOST = "lost"


class Dispute(NamedTuple):
    """A dispute; `transaction_id` is None while its sale is not recorded. Money is in cents of the sale's currency."""

    dispute_id: Untrusted
    amount_cents: int
    state: DisputeState
    opened_at: datetime
    closed_at: datetime | None
    transaction_id: Untrusted | None
    customer_id: int | None
    partner_id: int | None
    currency: str | None


def list_disputes(connection: Connection, program_id: int) -> list[Dispute]:
    """Return a program's disputes, newest first, from the newest events about them."""
    event = tables.payment_events.c
    mine = (event.program_id == program_id, event.type.startswith("charge.dispute."), event.is_test.is_(False))
    stored = select(tables.payment_events).where(*mine).order_by(event.id.desc()).limit(MOST_DISPUTES)
    reported: dict[str, list[tuple[Any, Returned]]] = {}
    for row in connection.execute(stored):
        content = load(row.payment)
        if isinstance(content, Returned):
            reported.setdefault(content.return_id, []).append((row, content))
    names = [content.reference for each in reported.values() for _, content in each]
    sold = connection.execute(_SALES, {"program_id": program_id, "names": names})
    by_name = {row.reference: row for row in sold}
    disputes = []
    for return_id, about in reported.items():
        about.sort(key=lambda each: (each[0].occurred_at, each[0].type == DISPUTE_CLOSED))
        opened, (last, content) = about[0][0], about[-1]
        is_closed = last.type == DISPUTE_CLOSED
        state = (DisputeState.LOST if content.stands else DisputeState.WON) if is_closed else DisputeState.OPEN
        times = (opened.occurred_at, last.occurred_at if is_closed else None)
        of_sale: Any = {name: getattr(by_name.get(content.reference), name, None) for name in OF_SALE}
        disputes.append(Dispute(return_id, content.amount_cents, state, *times, **of_sale))
    return disputes


def of_disputed_sale() -> ColumnElement[bool]:
    """Match refunds that the processor reported for a sale of which it also reported a dispute."""
    known, back = tables.payment_references.c, tables.payment_returns.c
    of_payment = and_(back.program_id == known.program_id, back.reference == known.reference)
    reported = select(known.reference).select_from(tables.payment_references.join(tables.payment_returns, of_payment))
    of_sale = (known.program_id == tables.sales.c.program_id, known.transaction_id == tables.sales.c.transaction_id)
    named = exists(reported.where(*of_sale, back.kind == payment.ReturnKind.DISPUTE).correlate(tables.sales))
    return and_(tables.refunds.c.refund_id.is_not(None), tables.refunds.c.refund_id.startswith(OURS), named)
