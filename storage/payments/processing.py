"""Processes a connected account's events (payments, refunds, disputes), each once and in any order."""

import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import Connection, and_, or_, select, update

from storage.engine import feed
from storage.engine.audit import By
from storage.payments import accounts, event_log
from storage.payments.payers import Payers
from storage.rules.errors import IdentifierConflict, NotFound, ServiceError, required
from storage.rules.payment import Content, Introduced, Linked, Paid, PaymentOutcome, ProcessorEvent, Returned
from storage.rules.settlement import Settlement
from storage.tables import payment_events, programs
from storage.tracking import leads, program_terms, rollups, sales, test_mode
from storage.tracking.customers import Customer
from storage.tracking.sale_decisions import Provenance, Sale
from storage.tracking.test_mode import TestModeCall

LINKED = {PaymentOutcome.RECORDED, PaymentOutcome.REPEATED, PaymentOutcome.LINKED, PaymentOutcome.SAME}
SETTLES_AFTER = timedelta(minutes=10)  # by then, what a bare payment belongs to has been reported


class EventOutcome(NamedTuple):
    outcome: str  # of a rejected sale the error's code
    transaction_id: str | None = None
    waits_for: str | None = None  # the payment or processor customer that it has to follow


def process(connection: Connection, program_id: int, event: ProcessorEvent, *, at: datetime) -> EventOutcome:
    """Process an event of a connected account once, however often it is delivered; return its outcome."""
    accounts.lock(connection, program_id)
    sandbox_of = connection.execute(select(programs.c.sandbox_of).where(programs.c.id == program_id)).scalar()
    if not event_log.add(connection, program_id, event, at=at):
        return EventOutcome(PaymentOutcome.REPEATED)
    is_test = event.is_test and sandbox_of is None  # a sandbox records tests
    payers = Payers(connection, program_id, at)
    with rollups.gathered(connection):
        done = (_test if is_test else apply)(payers, event.content)
        note(payers, event.id, event.content, done)
    feed.note(connection, [feed.Note(program_id, "payment.process", at, event.id, str(done.outcome))])
    return done


def process_in_sandbox(connection: Connection, program_id: int, event: ProcessorEvent, *, by: By) -> EventOutcome:
    """Process an event that an owner sends, not the processor, in a sandbox: what is not signed never earns."""
    itself = and_(programs.c.id == program_id, programs.c.sandbox_of.is_not(None))
    sandbox = select(programs.c.id).where(or_(itself, programs.c.sandbox_of == program_id))
    sandbox_id = required(connection.execute(sandbox).scalar(), NotFound("The program has no sandbox."))
    return process(connection, sandbox_id, event, at=by.at)


def apply(payers: Payers, content: Content | None) -> EventOutcome:
    """Do what an event says, as far as it can be done by now."""
    if isinstance(content, Returned):
        sale, is_held = payers.take_back(content)
        outcome = PaymentOutcome.RECORDED if sale else PaymentOutcome.WAITING
        done = EventOutcome(PaymentOutcome.HELD if is_held else outcome, sale, content.reference)
    elif isinstance(content, Linked):
        sale = payers.find_sale(content.references)
        if sale is not None:
            payers.refer(content.references, sale)
        done = EventOutcome(PaymentOutcome.RECORDED if sale else PaymentOutcome.WAITING, sale, content.references[0])
    elif content is None or content.program_id not in {None, str(payers.program_id)}:
        done = EventOutcome(PaymentOutcome.IGNORED)
    elif isinstance(content, Introduced):
        customer = payers.find(content)
        if customer is not None and not payers.is_another(content, customer):
            payers.remember(content.processor_customer, customer)
            done = EventOutcome(PaymentOutcome.LINKED)
        else:
            done = EventOutcome(PaymentOutcome.IGNORED)
    else:
        done = pay(payers, content, payers.find(content))
    return done


def _test(payers: Payers, content: Content | None) -> EventOutcome:
    """Record an event of the processor's test mode as a test: no sale, no refund, no customer."""
    if isinstance(content, Paid) and content.program_id in {None, str(payers.program_id)}:
        named = {name: getattr(content, name) for name in ("transaction_id", "customer_key", "click_id")}
        test = TestModeCall("sale", payers.at, amount_cents=content.amount_cents, **named)
    elif isinstance(content, Returned):
        test = TestModeCall("refund", payers.at, transaction_id=content.reference, amount_cents=content.amount_cents)
    else:
        return EventOutcome(PaymentOutcome.IGNORED)
    test_mode.store(payers.connection, test, payers.program_id, test_mode.OF_PROCESSOR)
    return EventOutcome(PaymentOutcome.TEST, test.transaction_id)


def pay(payers: Payers, paid: Paid, customer: Customer | None) -> EventOutcome:
    """Record a payment as a sale, unless it is recorded, may repeat another report, or has no known customer."""
    known = payers.known_as(paid.references)
    linked = [name for _, each in known if isinstance(each, Linked) for name in each.references]
    paid = paid._replace(references=tuple(dict.fromkeys((*paid.references, *linked))))
    sale = payers.find_sale(paid.references)
    whole, outcome = payers.whole_of(paid) if paid.is_bare else (None, "")
    if sale is not None:
        payers.remember(paid.processor_customer, customer)
        payers.refer(paid.references, sale)
        done = EventOutcome(PaymentOutcome.REPEATED, sale)
    elif whole is not None and (customer is None or outcome not in event_log.UNLINKED):
        done = EventOutcome(PaymentOutcome.REPEATED, whole.transaction_id)
    elif paid.is_bare and whole is None and payers.at < paid.occurred_at + SETTLES_AFTER:
        done = EventOutcome(PaymentOutcome.SETTLING, paid.transaction_id, paid.references[0])
    else:
        done = _record(payers, whole or paid, customer)
    return done


def _record(payers: Payers, paid: Paid, customer: Customer | None) -> EventOutcome:
    if customer is None and (customer := payers.of_coupon(paid)) is not None:
        paid = paid._replace(click_id=customer.click_id)
    if customer is None:
        names = event_log.customer_names(paid)
        dismissed = PaymentOutcome.NOT_REFERRED
        is_dismissed = names and event_log.find(payers.connection, payers.program_id, names, outcome=dismissed)
        outcome = dismissed if is_dismissed else PaymentOutcome.WAITING
        return EventOutcome(outcome, paid.transaction_id, paid.processor_customer or paid.references[0])
    if payers.is_another(paid, customer):
        return EventOutcome(IdentifierConflict.code, paid.transaction_id)
    if payers.possible_duplicate(paid, customer) is not None:
        _settle(payers, paid, customer)
        return EventOutcome(PaymentOutcome.HELD, paid.transaction_id, paid.references[0])
    result = sell(payers, paid, customer)
    if isinstance(result, ServiceError):
        return EventOutcome(result.code, paid.transaction_id)
    payers.remember(paid.processor_customer, customer)
    payers.refer(paid.references, paid.transaction_id)
    return EventOutcome(PaymentOutcome.RECORDED, paid.transaction_id)


def sell(payers: Payers, paid: Paid, customer: Customer) -> Any:
    """Settle a provisional lead, then record the sale as a call with the program's key does; return it or the error."""
    names = paid.click_id == customer.click_id and not customer.has_other_key(paid.customer_key)
    _settle(payers, paid, customer)
    who = {"click_id": customer.click_id, "customer_key": paid.customer_key if names else None}
    sent: Any = {name: value for name, value in paid._asdict().items() if name in Sale._fields} | who
    details = json.dumps({"coupon_code": paid.coupon_code}) if paid.coupon_code else None
    sale = Sale(**sent, at=payers.at, details=details, provenance=Provenance.PROCESSOR)
    program = program_terms.load_one(payers.connection, payers.program_id)
    return sales.record(payers.connection, [(program, sale)])[0]


def _settle(payers: Payers, paid: Paid, customer: Customer) -> None:
    """Settle the lead of a provisional customer who paid; leave out another customer's key."""
    if customer.settlement == Settlement.PROVISIONAL:
        program = program_terms.load_one(payers.connection, payers.program_id)
        lead = leads.Lead(customer.click_id, paid.customer_key, payers.at, has_paid=True)
        if isinstance(leads.record(payers.connection, [(program, lead)])[0], IdentifierConflict):
            leads.record(payers.connection, [(program, lead._replace(customer_key=None))])


def try_again(payers: Payers, names: Sequence[str]) -> None:
    """Retry events that wait for one of these names, in time order, and payments held for what they may repeat."""
    event = payment_events.c
    is_open = event.outcome.in_((*event_log.UNLINKED, PaymentOutcome.HELD))
    mine = (event.program_id == payers.program_id, is_open, event.waits_for.in_(names))
    waiting = select(event.event_id, event.outcome, event.payment).where(*mine)
    ordered = waiting.order_by(event.occurred_at, event.event_id)
    for event_id, outcome, stored in payers.connection.execute(ordered).all() if names else ():
        content = event_log.load(stored)
        if outcome in event_log.UNLINKED or isinstance(content, Paid):
            note(payers, event_id, content, apply(payers, content))


def note(payers: Payers, event_id: str, content: Content | None, done: EventOutcome) -> None:
    """Save an event's outcome, sort what waits, and retry what waited for this payment or its customer."""
    event = payment_events.c
    if done.outcome == PaymentOutcome.WAITING:
        done = done._replace(outcome=_sorted(payers, content))
    mine = update(payment_events).where(event.program_id == payers.program_id)
    payers.connection.execute(mine.where(event.event_id == event_id).values(**done._asdict()))
    if done.outcome == PaymentOutcome.ORGANIC and isinstance(content, Paid):
        waiting = mine.where(event.outcome == PaymentOutcome.WAITING, event.waits_for.in_(content.references))
        payers.connection.execute(waiting.values(outcome=PaymentOutcome.ORGANIC))
    if done.outcome in LINKED:
        names = [*content.references] if isinstance(content, Paid | Linked) else []
        customer = content.processor_customer if isinstance(content, Paid | Introduced) else None
        try_again(payers, [*names, *filter(None, [customer])])


def _sorted(payers: Payers, content: Content | None) -> PaymentOutcome:
    if not isinstance(content, Paid):
        names = getattr(content, "references", (getattr(content, "reference", ""),))
        organic = PaymentOutcome.ORGANIC
        is_organic = event_log.find(payers.connection, payers.program_id, names, outcome=organic)
        return organic if is_organic else PaymentOutcome.WAITING
    if content.click_id:
        return PaymentOutcome.WAITING
    return PaymentOutcome.UNKNOWN_CUSTOMER if content.customer_key else PaymentOutcome.ORGANIC
