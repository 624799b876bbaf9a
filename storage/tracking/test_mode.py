"""Test mode: events that prove an integration works, with no click, customer or ledger in reach."""

from datetime import datetime
from typing import NamedTuple

from sqlalchemy import BigInteger, Connection, insert, literal, select, update

from storage.access import program_keys
from storage.access.program_keys import ProgramKey
from storage.engine import ids
from storage.rules import refund
from storage.rules.errors import CustomerWrongProgram, ProgramNotFound, TransactionNotFound
from storage.rules.refund import RefundStatus
from storage.tables import programs, test_events, tracking_log

NO_PROGRAM = 0


class TestModeCall(NamedTuple):
    """A test-mode call. `program_id` is what it names, `click_program_id` what its click names."""

    kind: str
    at: datetime
    key_hash: str | None = None
    program_id: int | None = None
    click_program_id: int | None = None
    transaction_id: str | None = None
    amount_cents: int | None = None


class TestModeResult(NamedTuple):
    """A stored test event; `program_id` is None when nothing named one, `key` when it came without."""

    event_id: int
    program_id: int | None
    key: ProgramKey | None


class TestModeRefund(NamedTuple):
    """What a refund of a test sale took; `program_id` owns the key."""

    event_id: int
    key: ProgramKey
    status: RefundStatus
    refunded_cents: int
    refunded_total_cents: int
    remaining_cents: int


def record_test(connection: Connection, event: TestModeCall) -> TestModeResult:
    """Store a test event and its line in the tracking log.

    Raises InvalidKey, ApiKeyRotationRequired, ProgramNotFound, CustomerWrongProgram.
    """
    key = program_keys.authenticate(connection, event.key_hash, at=event.at) if event.key_hash else None
    program_id = _program(connection, event, key)
    return TestModeResult(_store(connection, event, program_id, key), program_id, key)


def refund_test(connection: Connection, event: TestModeCall) -> TestModeRefund:
    """Refund a test sale; `amount_cents` None takes all that remains (0 where the sale named no amount).

    Raises InvalidKey, ApiKeyRotationRequired, TransactionNotFound, RefundExceedsSale.
    """
    key = program_keys.authenticate(connection, event.key_hash or "", at=event.at)
    row = test_events.c
    same = (row.program_id == key.program_id, row.transaction_id == event.transaction_id, row.kind == "sale")
    newest = select(test_events).where(*same).order_by(row.id.desc()).limit(1)
    sale = connection.execute(newest).one_or_none()
    if sale is None:
        raise TransactionNotFound("No test sale of this program has this transaction_id.")
    sale_cents = sale.amount_cents or 0
    cents = refund.amount(event.amount_cents, sale_cents=sale_cents, refunded_before_cents=sale.refunded_cents)
    total_cents = sale.refunded_cents + cents
    this_sale = (row.program_id == sale.program_id, row.id == sale.id)
    connection.execute(update(test_events).where(*this_sale).values(refunded_cents=total_cents))
    event_id = _store(connection, event, key.program_id, key)
    remaining_cents = sale_cents - total_cents
    status = refund.status(refund_cents=cents, remaining_cents=remaining_cents)
    return TestModeRefund(event_id, key, status, cents, total_cents, remaining_cents)


def _program(connection: Connection, event: TestModeCall, key: ProgramKey | None) -> int | None:
    """Return the key's program, else the one that was named, else the click's, else None."""
    named = _existing(connection, event.program_id)
    if event.program_id is not None and named is None:
        raise ProgramNotFound
    clicked = _existing(connection, event.click_program_id)
    if key is not None and {named, clicked} - {None, key.program_id}:
        raise CustomerWrongProgram
    return key.program_id if key else named or clicked


def _existing(connection: Connection, program_id: int | None) -> int | None:
    if program_id is None:
        return None
    return connection.execute(select(programs.c.id).where(programs.c.id == literal(program_id, BigInteger))).scalar()


def _store(connection: Connection, event: TestModeCall, program_id: int | None, key: ProgramKey | None) -> int:
    event_id, log_id = ids.after(event.at, 2)
    owner = {"program_id": program_id or NO_PROGRAM, "at": event.at}
    connection.execute(
        insert(test_events).values(
            **owner,
            id=event_id,
            kind=event.kind,
            is_test=True,
            with_key=key is not None,
            transaction_id=event.transaction_id,
            amount_cents=event.amount_cents,
        )
    )
    trust = "with the program key" if key else "without a key: it does not verify the integration"
    logged = {"id": log_id, "call": event.kind, "event_id": event_id, "message": f"Test {event.kind} {trust}."}
    connection.execute(insert(tracking_log).values(**owner, **logged))
    return event_id
