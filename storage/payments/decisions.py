"""Payments that do not count, a possible duplicate or of an unknown customer: an owner decides, or a lead arrives."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from sqlalchemy import Connection, Select, and_, func, or_, select, update

from storage.engine import audit
from storage.engine.audit import Actor, Change
from storage.payments import accounts, event_log, payers, processing
from storage.payments.processing import EventOutcome
from storage.rules.errors import BY_CODE, CustomerNotFound, NotFound, ServiceError, TransactionNotFound, ValidationError
from storage.rules.payment import Content, Linked, Paid, PaymentOutcome, Returned
from storage.tables import customers, payment_accounts, payment_event_names, payment_events
from storage.tracking import flagging, refunds, rollups


class Decision(StrEnum):
    """What a held payment or refund is (one of its own, or the API's), or what becomes of what waits.

    It is tried again, for its own customer or a named one; no partner sent its customer; or it is of the named sale.
    """

    COUNT = "count"
    SAME = "same"
    RETRY = "retry"
    DISMISS = "dismiss"
    REFUND = "refund"


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
    actor: Actor,
    at: datetime,
    **named: str | None,
) -> str:
    """Decide on a payment, or on returned money, and return its outcome.

    `named` are the click_id or the customer_key of who paid, or the transaction_id of the sale that money went back of.
    Raises NotFound, ValidationError for a decision that does not fit the event, CustomerNotFound, TransactionNotFound,
    and for a counted one the errors of a sale (DuplicateTransaction if both have one transaction_id).
    """
    event = payment_events.c
    mine = (event.program_id == program_id, event.id == event_id)
    accounts.lock(connection, program_id)
    row = connection.execute(select(payment_events).where(*mine)).one_or_none()
    if row is None:
        raise NotFound
    content = event_log.load(row.payment)
    if isinstance(content, Paid):  # of returned money, a refund of the API's may lock the event after its sale
        row = connection.execute(select(payment_events).where(*mine).with_for_update()).one()
    with rollups.gathered(connection):
        done = _decided(connection, row, content, decision, named, by=actor.name, at=at)
        processing.note(connection, program_id, row.event_id, content, done, at=at)
        entry = Change("payment_event.decide", event_id, "outcome", row.outcome, done.outcome)
        audit.write(connection, program_id, [entry], actor=actor, at=at)
    return done.outcome


def _decided(
    connection: Connection,
    row: Any,
    content: Content | None,
    decision: Decision,
    named: Mapping[str, str | None],
    *,
    by: str,
    at: datetime,
) -> EventOutcome:
    """Carry out the decision. Raises ValidationError if it does not fit the event's outcome."""
    program_id = row.program_id
    is_unlinked = row.outcome in RETRIED or row.outcome in BY_CODE
    is_without_payment = row.outcome in WITHOUT_PAYMENT
    match content, decision:
        case Paid(), Decision.COUNT | Decision.SAME if row.outcome == PaymentOutcome.HELD:
            return _resolve(connection, program_id, content, decision, by=by, at=at)
        case Returned(), Decision.COUNT | Decision.SAME if row.outcome == PaymentOutcome.HELD:
            is_same = decision == Decision.SAME
            is_held = refunds.decide_held(connection, program_id, row.transaction_id, is_same=is_same, at=at)
            outcome = PaymentOutcome.SAME if is_same else PaymentOutcome.RECORDED
            return EventOutcome(PaymentOutcome.HELD if is_held else outcome, row.transaction_id, content.reference)
        case Paid(), Decision.RETRY if is_unlinked:
            return _retry(connection, program_id, content, named, at)
        case Paid(), Decision.DISMISS if is_unlinked:
            return EventOutcome(PaymentOutcome.NOT_REFERRED, content.transaction_id)
        case Returned(), Decision.REFUND if is_without_payment:
            sale = named.get("transaction_id")
            if payers.lock_sale(connection, program_id, sale) is None or sale is None:
                raise TransactionNotFound
            processing.refer(connection, program_id, (content.reference,), sale, at)
            processing.try_again(connection, program_id, [content.reference], at)
            return EventOutcome(PaymentOutcome.RECORDED, sale, content.reference)
        case Returned() | Linked(), Decision.DISMISS if is_without_payment:
            return EventOutcome(PaymentOutcome.NOT_REFERRED, None, row.waits_for)
        case _:
            raise ValidationError("This decision does not fit the event's outcome.")


def _retry(
    connection: Connection, program_id: int, paid: Paid, named: Mapping[str, str | None], at: datetime
) -> EventOutcome:
    if not any(named.values()):
        customer = payers.find(connection, program_id, paid, at)
    else:
        customer = payers.find_named(connection, program_id, named.get("click_id"), named.get("customer_key"), at)
        if customer is not None:
            own_key = None if customer.has_other_key(paid.customer_key) else paid.customer_key
            paid = paid._replace(click_id=customer.click_id, customer_key=own_key)
    if customer is None:
        raise CustomerNotFound
    return processing.pay(connection, program_id, paid, customer, at)


def _resolve(
    connection: Connection, program_id: int, paid: Paid, decision: Decision, *, by: str, at: datetime
) -> EventOutcome:
    customer = payers.find(connection, program_id, paid, at)
    assert customer is not None  # noqa: S101 - it was known when the payment was held
    duplicate = payers.possible_duplicate(connection, program_id, paid, customer)
    sale = duplicate.transaction_id if duplicate else None
    if decision == Decision.COUNT:
        result = processing.sell(connection, program_id, paid, customer, at)
        if isinstance(result, ServiceError):
            raise result
        if sale is not None:
            found = flagging.possible_duplicate(duplicate, customer, paid.transaction_id, at=at, earns=False)
            flagging.raise_each(connection, [(program_id, found)], at=at, dismissed_by=by)
        sale = paid.transaction_id
    if sale is not None:
        payers.remember(connection, program_id, paid.processor_customer, customer)
        processing.refer(connection, program_id, paid.references, sale, at)
    return EventOutcome(PaymentOutcome.RECORDED if decision == Decision.COUNT else PaymentOutcome.SAME, sale)


def late_programs(connection: Connection, *, at: datetime) -> list[int]:
    """Return the programs in which `record_late` has something to do."""
    programs = [each.with_only_columns(payment_events.c.program_id).distinct() for each in _due(at)]
    return sorted({program_id for each in programs for program_id in connection.execute(each).scalars()})


def record_late(connection: Connection, program_id: int, *, at: datetime) -> int:
    """Record a program's waiting payments that can be by now; return how many there were.

    A customer carries the customer_key by now, or no invoice or checkout claims a bare payment. Money that went back of
    a payment that no one reported stops waiting.
    """
    accounts.lock(connection, program_id)
    event = payment_events.c
    *of_program, old = (each.where(event.program_id == program_id).limit(AT_ONCE) for each in _due(at))
    rows = [row for each in of_program for row in connection.execute(each.order_by(event.occurred_at, event.event_id))]
    with rollups.gathered(connection):
        for row in rows:
            content = event_log.load(row.payment)
            done = processing.apply(connection, program_id, content, at)
            processing.note(connection, program_id, row.event_id, content, done, at=at)
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
