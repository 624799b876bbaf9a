"""Test mode: events that prove an integration works without touching clicks, customers or the ledger."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, delete, insert, select, update

from storage.engine import ids
from storage.engine.group_commit import set_based
from storage.rules import errors
from storage.rules.money import RefundStatus, refund_status
from storage.tables import test_events, tracking_log
from storage.tracking import program_terms
from storage.tracking.program_terms import ProgramTerms

NO_PROGRAM = 0
MOST_WITHOUT_KEY = 500  # test events of a program that came without its key; the oldest make room
WITH_KEY = "with the program key"
WITHOUT_KEY = "without a key: it does not verify the integration"
OF_PROCESSOR = "from the test mode of the payment account: nothing was earned"


class TestModeCall(NamedTuple):
    kind: str
    at: datetime
    program_id: int | None = None  # the one that it names
    click_program_id: int | None = None  # the one that its click names
    transaction_id: str | None = None
    amount_cents: int | None = None
    event_name: str | None = None
    customer_key: str | None = None
    click_id: str | None = None
    email_mask: str | None = None


class TestModeResult(NamedTuple):
    """A stored test event; `program_id` is NO_PROGRAM when nothing named one."""

    event_id: int
    program_id: int


class TestModeRefund(NamedTuple):
    """What a refund of a test sale took."""

    event_id: int
    program_id: int
    status: RefundStatus
    refunded_cents: int
    refunded_total_cents: int
    remaining_cents: int


@set_based
def record_with_key(connection: Connection, batch: Sequence[tuple[ProgramTerms, TestModeCall]]) -> list[Any]:
    """Store test events that came with the program's key; each result is a TestModeResult, TestModeRefund or error."""
    results: dict[int, Any] = {}
    for n in sorted(range(len(batch)), key=lambda n: (batch[n][0].id, batch[n][1].transaction_id or "")):
        program, event = batch[n]
        try:
            if _named(connection, event) - {program.id}:
                raise errors.CustomerWrongProgram
            refunded = _refund(connection, program.id, event) if event.kind == "refund" else None
        except errors.ServiceError as error:
            results[n] = error
        else:
            event_id = store(connection, event, program.id, WITH_KEY)
            stored = TestModeResult(event_id, program.id)
            results[n] = TestModeRefund(event_id, program.id, *refunded) if refunded else stored
    return [results[n] for n in range(len(batch))]


def record_without_key(connection: Connection, event: TestModeCall) -> TestModeResult:
    """Store a test event of the program that it names, else its click's. Raises ProgramNotFound."""
    existing = _named(connection, event)
    program_id = event.program_id if event.program_id in existing else event.click_program_id
    if program_id is None or program_id not in existing:
        return TestModeResult(ids.after(event.at, 1)[0], NO_PROGRAM)  # not stored: it would be in no list
    event_id = store(connection, event, program_id, WITHOUT_KEY)
    row, log = test_events.c, tracking_log.c
    keyless = select(row.id).where(row.program_id == program_id, row.with_key.is_(False))
    oldest = connection.execute(keyless.order_by(row.id.desc()).offset(MOST_WITHOUT_KEY).limit(1)).scalar()
    if oldest is not None:
        connection.execute(delete(test_events).where(row.program_id == program_id, row.id == oldest))
        connection.execute(delete(tracking_log).where(log.program_id == program_id, log.event_id == oldest))
    return TestModeResult(event_id, program_id)


def _refund(connection: Connection, program_id: int, event: TestModeCall) -> tuple[RefundStatus, int, int, int]:
    """Refund a test sale: `amount_cents`, or all that remains (0 where the sale named no amount)."""
    row = test_events.c
    same = (row.program_id == program_id, row.transaction_id == event.transaction_id, row.kind == "sale")
    newest = select(test_events).where(*same).order_by(row.id.desc()).limit(1)
    unknown = errors.TransactionNotFound("No test sale of this program has this transaction_id.")
    sale = errors.required(connection.execute(newest).one_or_none(), unknown)
    sale_cents = sale.amount_cents or 0
    before_cents = sale_cents - sale.refunded_cents
    cents = event.amount_cents if event.amount_cents is not None and before_cents else before_cents
    if cents > before_cents:
        raise errors.RefundExceedsSale(f"The refund asks for {cents} cents; {before_cents} remain.")
    total_cents = sale.refunded_cents + cents
    remaining_cents = sale_cents - total_cents
    this_sale = (row.program_id == sale.program_id, row.id == sale.id)
    connection.execute(update(test_events).where(*this_sale).values(refunded_cents=total_cents))
    return refund_status(refunded_cents=cents, remaining_cents=remaining_cents), cents, total_cents, remaining_cents


def _named(connection: Connection, event: TestModeCall) -> set[int]:
    """Return the program that a call names and its click's, if there are such. Raises ProgramNotFound."""
    named = {each for each in (event.program_id, event.click_program_id) if each is not None}
    existing = set(program_terms.load(connection, named)) if named else set()
    if event.program_id is not None and event.program_id not in existing:
        raise errors.ProgramNotFound
    return existing


def store(connection: Connection, event: TestModeCall, program_id: int, trust: str) -> int:
    """Store a test event, and log it with how far it is to be trusted; return its id."""
    event_id, log_id = ids.after(event.at, 2)
    owner = {"program_id": program_id, "at": event.at}
    stored = {name: value for name, value in event._asdict().items() if name in test_events.c and name not in owner}
    stored |= {"id": event_id, "is_test": True, "with_key": trust == WITH_KEY}
    connection.execute(insert(test_events).values(stored | owner))
    logged = {"id": log_id, "call": event.kind, "event_id": event_id, "message": f"Test {event.kind} {trust}."}
    connection.execute(insert(tracking_log).values(**owner, **logged))
    return event_id
