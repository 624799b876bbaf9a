"""Processes a connected account's events (payments, refunds, disputes), each once and in any order."""

from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple

from sqlalchemy import Connection, select, update

from storage.engine import audit, ids
from storage.engine.audit import Actor, Change
from storage.engine.database import insert_for
from storage.payments import returns, stored_events
from storage.rules import keys
from storage.rules.errors import IdentifierConflict, NotFound, ServiceError, ValidationError
from storage.rules.payment import Linked, Paid, ProcessorEvent, Returned
from storage.rules.settlement import Settlement
from storage.tables import payment_accounts, payment_customers, payment_events, payment_references, programs
from storage.tracking import leads, program_terms, sales, test_mode
from storage.tracking.customers import Customer, CustomerQuery, Registry
from storage.tracking.program_terms import ProgramTerms
from storage.tracking.recorded_sales import SaleQuery, find_reported_by_api
from storage.tracking.reported_leads import Lead
from storage.tracking.sales import Provenance, Sale
from storage.tracking.test_mode import TestModeCall

RECORDED, REPEATED, IGNORED, WAITING, HELD = "recorded", "repeated", "ignored", "waiting", "held_as_duplicate"
SAME, TEST = "same_sale", "test"
Content = Paid | Returned | Linked | None


class Decision(StrEnum):
    """What a payment that was held is: a sale of its own, or the one that the API reported."""

    COUNT = "count"
    SAME = "same"


class EventOutcome(NamedTuple):
    """What became of an event; `waits_for` names the payment or processor customer that it has to follow."""

    outcome: str
    transaction_id: str | None = None
    waits_for: str | None = None


def process(connection: Connection, program_id: int, event: ProcessorEvent, *, at: datetime) -> EventOutcome:
    """Process an event of a program's connected account once, however often it is delivered; return its outcome.

    If the sale is rejected (its window is over, its currency has no rate), the outcome is the error's code. An event
    that cannot be linked yet waits for a sale of the same payment or processor customer. A sandbox records test events.
    """
    account = select(programs.c.sandbox_of).join(payment_accounts).where(programs.c.id == program_id)
    sandbox_of = connection.execute(account.with_for_update(of=payment_accounts)).scalar()  # one event at a time
    if not _is_new(connection, program_id, event, at):
        return EventOutcome(REPEATED)
    is_test = event.is_test and sandbox_of is None
    done = (_test if is_test else _apply)(connection, program_id, event.content, at)
    _note(connection, program_id, event.id, done)
    if done.outcome == RECORDED and isinstance(event.content, Paid):
        _try_again(connection, program_id, event.content, at)
    return done


def decide(
    connection: Connection, program_id: int, event_id: int, decision: Decision, *, actor: Actor, at: datetime
) -> None:
    """Decide a held payment: either a new sale, or the API's sale, whose refunds then come from the account.

    Raises NotFound, ValidationError for one that is not held, and the errors of a sale (DuplicateTransaction if
    both have one transaction_id).
    """
    event = payment_events.c
    mine = (event.program_id == program_id, event.id == event_id)
    row = connection.execute(select(payment_events).where(*mine).with_for_update()).one_or_none()
    if row is None:
        raise NotFound
    if row.outcome != HELD:
        raise ValidationError("Only a payment that is held as a possible duplicate is decided.")
    paid = stored_events.load(row.payment)
    assert isinstance(paid, Paid)  # noqa: S101 - nothing else is held
    customer = _customer(connection, program_id, paid, at)
    assert customer is not None  # noqa: S101 - it was known when the payment was held
    duplicate = _possible_duplicate(connection, program_id, paid, customer)
    if decision == Decision.COUNT:
        result = _sell(connection, program_id, paid, customer, at)
        if isinstance(result, ServiceError):
            raise result
    sale = paid.transaction_id if decision == Decision.COUNT else duplicate
    if sale is not None:
        _link(connection, program_id, paid, customer, sale=sale, at=at)
    done = EventOutcome(RECORDED if decision == Decision.COUNT else SAME, sale)
    _note(connection, program_id, row.event_id, done)
    entry = Change("payment_event.decide", event_id, "outcome", HELD, done.outcome)
    audit.write(connection, program_id, [entry], actor=actor, at=at)
    _try_again(connection, program_id, paid, at)


def _is_new(connection: Connection, program_id: int, event: ProcessorEvent, at: datetime) -> bool:
    payment = None if event.content is None else stored_events.dump(event.content)
    row = {"program_id": program_id, "event_id": event.id, "id": ids.after(at, 1)[0], "outcome": WAITING}
    row |= {"type": event.type, "occurred_at": event.occurred_at, "received_at": at, "payment": payment}
    row |= {"is_test": event.is_test}
    new = insert_for(connection)(payment_events).values(**row)
    new = new.on_conflict_do_nothing(index_elements=["program_id", "event_id"])
    return connection.execute(new.returning(payment_events.c.event_id)).scalar() is not None


def _apply(connection: Connection, program_id: int, content: Content, at: datetime) -> EventOutcome:
    if isinstance(content, Returned):
        transaction_id = returns.save(connection, program_id, content, at=at)
        done = EventOutcome(RECORDED if transaction_id else WAITING, transaction_id, content.reference)
    elif isinstance(content, Linked):
        sale = _known(connection, program_id, content.references)
        if sale is not None:
            _refer(connection, program_id, content.references, sale, at)
        done = EventOutcome(RECORDED if sale else WAITING, sale, content.references[0])
    elif content is None or content.program_id not in {None, str(program_id)}:
        done = EventOutcome(IGNORED)
    else:
        done = _pay(connection, program_id, content, at)
    return done


def _test(connection: Connection, program_id: int, content: Content, at: datetime) -> EventOutcome:
    """Record an event of the processor's test mode as a test: no sale, no refund, no customer."""
    if isinstance(content, Paid) and content.program_id in {None, str(program_id)}:
        test = TestModeCall(
            "sale",
            at,
            transaction_id=content.transaction_id,
            amount_cents=content.amount_cents,
            customer_key=content.customer_key,
            click_id=content.click_id,
        )
    elif isinstance(content, Returned):
        test = TestModeCall("refund", at, transaction_id=content.reference, amount_cents=content.amount_cents)
    else:
        return EventOutcome(IGNORED)
    test_mode.record_of_processor(connection, program_id, test)
    return EventOutcome(TEST, test.transaction_id)


def _pay(connection: Connection, program_id: int, paid: Paid, at: datetime) -> EventOutcome:
    """Record a payment as a sale, unless it is recorded, may duplicate the API's, or has no known customer."""
    customer = _customer(connection, program_id, paid, at)
    if (sale := _known(connection, program_id, paid.references)) is not None:
        _link(connection, program_id, paid, customer, sale=sale, at=at)
        return EventOutcome(REPEATED, sale)
    if customer is None:
        return EventOutcome(WAITING, paid.transaction_id, paid.processor_customer)
    if _possible_duplicate(connection, program_id, paid, customer) is not None:
        _settle(connection, program_terms.load_one(connection, program_id), paid, customer, at)
        return EventOutcome(HELD, paid.transaction_id)
    result = _sell(connection, program_id, paid, customer, at)
    if isinstance(result, ServiceError):
        return EventOutcome(result.code, paid.transaction_id)
    _link(connection, program_id, paid, customer, sale=paid.transaction_id, at=at)
    return EventOutcome(RECORDED, paid.transaction_id)


def _sell(connection: Connection, program_id: int, paid: Paid, customer: Customer, at: datetime) -> Any:
    """Settle a provisional lead, then record the sale as a call with the program's key does; return it or the error."""
    program = program_terms.load_one(connection, program_id)
    _settle(connection, program, paid, customer, at)
    sale = Sale(
        transaction_id=paid.transaction_id,
        amount_cents=paid.amount_cents,
        at=at,
        click_id=customer.click_id,
        currency=paid.currency,
        occurred_at=paid.occurred_at,
        provenance=Provenance.PROCESSOR,
    )
    return sales.record(connection, [(program, sale)])[0]


def _settle(connection: Connection, program: ProgramTerms, paid: Paid, customer: Customer, at: datetime) -> None:
    """Settle the lead of a provisional customer who paid; leave out another customer's key."""
    if customer.settlement == Settlement.PROVISIONAL:
        lead = Lead(customer.click_id, paid.customer_key, at, has_paid=True)
        if isinstance(leads.record(connection, [(program, lead)])[0], IdentifierConflict):
            leads.record(connection, [(program, lead._replace(customer_key=None))])


def _customer(connection: Connection, program_id: int, paid: Paid, at: datetime) -> Customer | None:
    """Return the customer of the metadata's click, else of its key, else of the processor; never by e-mail."""
    customer = _named(connection, program_id, paid.click_id, paid.customer_key, at)
    if customer is None and paid.processor_customer is not None:
        known = payment_customers.c
        mine = (known.program_id == program_id, known.processor_customer == paid.processor_customer)
        click_id = connection.execute(select(known.click_id).where(*mine)).scalar()
        customer = _named(connection, program_id, click_id, None, at)
    return customer


def _named(
    connection: Connection, program_id: int, click_id: str | None, customer_key: str | None, at: datetime
) -> Customer | None:
    query = CustomerQuery(program_id, customer_key, keys.click_program(click_id or ""), click_id)
    registry = Registry(connection, [query], at=at)
    return registry.by_click(program_id, click_id) or registry.by_key(program_id, customer_key)


def _known(connection: Connection, program_id: int, references: tuple[str, ...]) -> str | None:
    """Return the transaction_id if this payment is already a sale; a checkout and its invoice are one payment."""
    known = payment_references.c
    mine = (known.program_id == program_id, known.reference.in_(references))
    return connection.execute(select(known.transaction_id).where(*mine).limit(1)).scalar()


def _possible_duplicate(connection: Connection, program_id: int, paid: Paid, customer: Customer) -> str | None:
    """Return the transaction_id of a possible duplicate that the API reported."""
    details = (paid.amount_cents, paid.currency, paid.occurred_at)
    return find_reported_by_api(connection, SaleQuery(program_id, paid.transaction_id, customer.id, *details))


def _link(
    connection: Connection, program_id: int, paid: Paid, customer: Customer | None, *, sale: str, at: datetime
) -> None:
    """Save the names that link later events to this payment's sale and customer; refund what already went back."""
    if paid.processor_customer and customer:
        row = {"program_id": program_id, "processor_customer": paid.processor_customer, "click_id": customer.click_id}
        connection.execute(insert_for(connection)(payment_customers).values(**row).on_conflict_do_nothing())
    _refer(connection, program_id, paid.references, sale, at)


def _refer(connection: Connection, program_id: int, references: tuple[str, ...], sale: str, at: datetime) -> None:
    for reference in references:
        row = {"program_id": program_id, "reference": reference, "transaction_id": sale}
        connection.execute(insert_for(connection)(payment_references).values(**row).on_conflict_do_nothing())
    returns.refund_difference(connection, program_id, sale, at=at)


def _try_again(connection: Connection, program_id: int, paid: Paid, at: datetime) -> None:
    """Retry events that waited for this payment or its customer, in time order."""
    event = payment_events.c
    names = [*paid.references, *([paid.processor_customer] if paid.processor_customer else [])]
    waiting = (event.program_id == program_id, event.outcome == WAITING, event.waits_for.in_(names))
    ordered = select(event.event_id, event.payment).where(*waiting).order_by(event.occurred_at, event.event_id)
    for row in connection.execute(ordered).all():
        content = stored_events.load(row.payment)
        done = _apply(connection, program_id, content, at)
        _note(connection, program_id, row.event_id, done)
        if done.outcome in {RECORDED, REPEATED} and isinstance(content, Paid):
            _try_again(connection, program_id, content, at)


def _note(connection: Connection, program_id: int, event_id: str, done: EventOutcome) -> None:
    mine = (payment_events.c.program_id == program_id, payment_events.c.event_id == event_id)
    connection.execute(update(payment_events).where(*mine).values(done._asdict()))
