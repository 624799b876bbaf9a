"""Payments that do not count, a possible duplicate or of an unknown customer: an owner decides, or a lead arrives."""

from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from sqlalchemy import Connection, Select, and_, func, or_, select, update

from storage.engine import audit
from storage.payments import accounts, event_log, processing
from storage.payments.payers import Payers
from storage.payments.processing import EventOutcome
from storage.rules import errors
from storage.rules.errors import ServiceError, required
from storage.rules.payment import Content, Linked, Paid, PaymentOutcome, Returned
from storage.tables import customers, payment_accounts, payment_event_names, payment_events
from storage.tracking import flagging, refunds, rollups


class Decision(StrEnum):
    """What a person decides on an event: on a held payment or refund, or on what waits."""

    COUNT = "count"  # it is a payment or a refund of its own
    SAME = "same"  # it is what the API reported
    RETRY = "retry"  # for its own customer, or a named one
    DISMISS = "dismiss"  # no partner sent its customer
    REFUND = "refund"  # of the named sale


RETRIED = {*event_log.UNLINKED, PaymentOutcome.NOT_REFERRED}
RETURNS_WAIT = timedelta(days=7)  # the processor gives up on an event after 3 days
AT_ONCE = 100  # late payments; each is a sale of its own
LATE = (PaymentOutcome.WAITING, PaymentOutcome.UNKNOWN_CUSTOMER)
WITHOUT_PAYMENT = {PaymentOutcome.WAITING, PaymentOutcome.NOT_REFERRED}


def decide(
    connection: Connection,
    /,
    program_id: int,
    event_id: int,
    decision: Decision,
    *,
    by: audit.By,
    **named: str | None,  # the click_id or customer_key of who paid, or the transaction_id of what went back
) -> str:
    """Decide on a payment, or on returned money, and return its outcome."""
    event, payers = payment_events.c, Payers(connection, program_id, by.at)
    mine = (event.program_id == program_id, event.id == event_id)
    accounts.lock(connection, program_id)
    row = required(connection.execute(select(payment_events).where(*mine)).one_or_none(), errors.NotFound)
    content = event_log.load(row.payment)
    if isinstance(content, Paid):  # of returned money, a refund of the API's may lock the event after its sale
        row = connection.execute(select(payment_events).where(*mine).with_for_update()).one()
    with rollups.gathered(connection):
        done = _decided(payers, row, content, decision, by=by.actor.name, **named)
        processing.note(payers, row.event_id, content, done)
        entry = audit.Change("payment_event.decide", event_id, "outcome", row.outcome, done.outcome)
        audit.write(connection, program_id, [entry], by=by)
    return done.outcome


def _decided(
    payers: Payers, row: Any, content: Content | None, decision: Decision, *, by: str, **named: str | None
) -> EventOutcome:
    is_unlinked = row.outcome in RETRIED or row.outcome in errors.BY_CODE
    is_without_payment = row.outcome in WITHOUT_PAYMENT
    match content, decision:
        case Paid(), Decision.COUNT | Decision.SAME if row.outcome == PaymentOutcome.HELD:
            return _resolve(payers, content, decision, by=by)
        case Returned(), Decision.COUNT | Decision.SAME if row.outcome == PaymentOutcome.HELD:
            is_same, sale = decision == Decision.SAME, row.transaction_id
            is_held = refunds.decide_held(payers.connection, payers.program_id, sale, is_same=is_same, at=payers.at)
            outcome = PaymentOutcome.SAME if is_same else PaymentOutcome.RECORDED
            return EventOutcome(PaymentOutcome.HELD if is_held else outcome, sale, content.reference)
        case Paid(), Decision.RETRY if is_unlinked:
            return _retry(payers, content, **named)
        case Paid(), Decision.DISMISS if is_unlinked:
            return EventOutcome(PaymentOutcome.NOT_REFERRED, content.transaction_id)
        case Returned(), Decision.REFUND if is_without_payment:
            sale = named.get("transaction_id")
            if payers.lock_sale(sale) is None or sale is None:
                raise errors.TransactionNotFound
            payers.refer((content.reference,), sale)
            processing.try_again(payers, [content.reference])
            return EventOutcome(PaymentOutcome.RECORDED, sale, content.reference)
        case Returned() | Linked(), Decision.DISMISS if is_without_payment:
            return EventOutcome(PaymentOutcome.NOT_REFERRED, None, row.waits_for)
        case _:
            raise errors.ValidationError("This decision does not fit the event's outcome.")


def _retry(payers: Payers, paid: Paid, **named: str | None) -> EventOutcome:
    if not any(named.values()):
        customer = payers.find(paid)
    else:
        customer = payers.find_named(named.get("click_id"), named.get("customer_key"))
        if customer is not None:
            own_key = None if customer.has_other_key(paid.customer_key) else paid.customer_key
            paid = paid._replace(click_id=customer.click_id, customer_key=own_key)
    return processing.pay(payers, paid, required(customer, errors.CustomerNotFound))


def _resolve(payers: Payers, paid: Paid, decision: Decision, *, by: str) -> EventOutcome:
    customer = payers.find(paid)
    assert customer is not None  # noqa: S101 - it was known when the payment was held
    duplicate = payers.possible_duplicate(paid, customer)
    sale = duplicate.transaction_id if duplicate else None
    if decision == Decision.COUNT:
        result = processing.sell(payers, paid, customer)
        if isinstance(result, ServiceError):
            raise result
        if sale is not None:
            found = flagging.possible_duplicate(duplicate, customer, paid.transaction_id, at=payers.at, earns=False)
            flagging.raise_each(payers.connection, [(payers.program_id, found)], at=payers.at, dismissed_by=by)
        sale = paid.transaction_id
    if sale is not None:
        payers.remember(paid.processor_customer, customer)
        payers.refer(paid.references, sale)
    return EventOutcome(PaymentOutcome.RECORDED if decision == Decision.COUNT else PaymentOutcome.SAME, sale)


def late_programs(connection: Connection, *, at: datetime) -> list[int]:
    """Return the programs in which `record_late` has something to do."""
    programs = [each.with_only_columns(payment_events.c.program_id).distinct() for each in _due(at)]
    return sorted({program_id for each in programs for program_id in connection.execute(each).scalars()})


def record_late(connection: Connection, program_id: int, *, at: datetime) -> int:
    """Record a program's waiting payments that can be by now, and end vain waits; return how many there were."""
    accounts.lock(connection, program_id)
    event, payers = payment_events.c, Payers(connection, program_id, at)
    *of_program, old = (each.where(event.program_id == program_id).limit(AT_ONCE) for each in _due(at))
    rows = [row for each in of_program for row in connection.execute(each.order_by(event.occurred_at, event.event_id))]
    with rollups.gathered(connection):
        for row in rows:
            content = event_log.load(row.payment)
            processing.note(payers, row.event_id, content, processing.apply(payers, content))
    ended = [row.event_id for row in connection.execute(old)]
    if ended:
        mine = (event.program_id == program_id, event.event_id.in_(ended))
        connection.execute(update(payment_events).where(*mine).values(outcome=PaymentOutcome.NOT_REFERRED))
    return max(map(len, (rows, ended)))


def _due(at: datetime) -> tuple[Select[Any], ...]:
    """Select payments whose lead came late, bare ones that settled, and returned money that has waited too long."""
    account, event, named, customer = payment_accounts.c, payment_events.c, payment_event_names.c, customers.c
    of_account = and_(event.program_id == account.program_id, event.outcome.in_(LATE))
    same = (named.program_id == event.program_id, named.event_id == event.event_id)
    of_event = and_(*same, named.name.startswith(event_log.KEY))
    key = func.substr(named.name, len(event_log.KEY) + 1)
    carried = and_(customer.program_id == named.program_id, or_(customer.customer_key == key, customer.known_as == key))
    known = payment_accounts.join(payment_events, of_account).join(payment_event_names, of_event)
    events = select(event.event_id, event.payment)
    settled = (event.outcome == PaymentOutcome.SETTLING, event.occurred_at <= at - processing.SETTLES_AFTER)
    is_return = or_(*(event.type.startswith(each) for each in ("charge.", "refund.", "invoice_payment.")))
    old = (event.outcome == PaymentOutcome.WAITING, event.received_at <= at - RETURNS_WAIT, is_return)
    return events.select_from(known.join(customers, carried)), events.where(*settled), events.where(*old)
