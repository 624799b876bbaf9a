"""Disputes that the payment processor reported: their sale, their amount, and how each ended."""

from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, and_, exists, select

from storage.payments import stored_events
from storage.rules.payment import Returned, ReturnKind
from storage.rules.untrusted import Untrusted
from storage.tables import payment_events, payment_references, payment_returns, refunds, sales
from storage.tracking.refunded_sales import OURS

MOST = 500
CLOSED = "charge.dispute.closed"


class DisputeState(StrEnum):
    """How a dispute ended: won means that the money came back to the shop."""

    OPEN = "open"
    WON = "won"
    LOST = "lost"


class Dispute(NamedTuple):
    """A dispute; `transaction_id` is None while its sale is not recorded. Money is in cents of the sale's currency."""

    dispute_id: Untrusted
    transaction_id: Untrusted | None
    customer_id: int | None
    partner_id: int | None
    amount_cents: int
    currency: str | None
    state: DisputeState
    opened_at: datetime
    closed_at: datetime | None


def list_disputes(connection: Connection, program_id: int) -> list[Dispute]:
    """Return a program's disputes, newest first, from the newest events about them."""
    event, known = payment_events.c, payment_references.c
    stored = (
        select(payment_events)
        .where(event.program_id == program_id, event.type.startswith("charge.dispute."), event.is_test.is_(False))
        .order_by(event.id.desc())
        .limit(MOST)
    )
    reported: dict[str, list[tuple[Any, Returned]]] = {}
    for row in connection.execute(stored):
        content = stored_events.load(row.payment) if row.payment else None
        if isinstance(content, Returned):
            reported.setdefault(content.return_id, []).append((row, content))
    names = {content.reference for each in reported.values() for _, content in each}
    of_sale = and_(sales.c.program_id == known.program_id, sales.c.transaction_id == known.transaction_id)
    sold = select(known.reference, sales).join(sales, of_sale)
    mine = sold.where(known.program_id == program_id, known.reference.in_(names))
    by_name = {row.reference: row for row in connection.execute(mine)}
    return [_dispute(each, by_name) for each in reported.values()]


def of_refund() -> ColumnElement[bool]:
    """Match refunds that the processor reported for a sale of which it also reported a dispute."""
    known, back = payment_references.c, payment_returns.c
    of_payment = and_(back.program_id == known.program_id, back.reference == known.reference)
    reported = select(known.reference).select_from(payment_references.join(payment_returns, of_payment))
    of_sale = (known.program_id == sales.c.program_id, known.transaction_id == sales.c.transaction_id)
    named = exists(reported.where(*of_sale, back.kind == ReturnKind.DISPUTE).correlate(sales))
    return and_(refunds.c.refund_id.is_not(None), refunds.c.refund_id.startswith(OURS), named)


def _dispute(reported: Iterable[tuple[Any, Returned]], by_name: dict[str, Any]) -> Dispute:
    events = sorted(reported, key=lambda each: (each[0].occurred_at, each[0].type == CLOSED))
    opened, (last, content) = events[0][0], events[-1]
    is_closed = last.type == CLOSED
    state = (DisputeState.LOST if content.stands else DisputeState.WON) if is_closed else DisputeState.OPEN
    sale = by_name.get(content.reference)
    return Dispute(
        dispute_id=content.return_id,
        transaction_id=sale.transaction_id if sale else None,
        customer_id=sale.customer_id if sale else None,
        partner_id=sale.partner_id if sale else None,
        amount_cents=content.amount_cents,
        currency=sale.currency if sale else None,
        state=state,
        opened_at=opened.occurred_at,
        closed_at=last.occurred_at if is_closed else None,
    )
