"""Returned money: saves refunds and disputes of the payment processor, in any order, and refunds their sale."""

from datetime import datetime
from typing import Any

from sqlalchemy import Connection, func, or_, select, update

from storage.engine.database import insert_for
from storage.rules.payment import Returned, ReturnKind, returned_cents
from storage.tables import payment_references, payment_returns, sales
from storage.tables import refunds as refund_events
from storage.tracking import program_terms, refunds, reported_returns
from storage.tracking.refunds import Refund

OURS = "payments:"


def save(connection: Connection, program_id: int, returned: Returned, *, at: datetime) -> str | None:
    """Save a returned amount unless a newer one is stored; return the transaction_id of its sale, if it is known."""
    known = payment_references.c
    of_payment = (known.program_id == program_id, known.reference == returned.reference)
    transaction_id = connection.execute(select(known.transaction_id).where(*of_payment)).scalar()
    if transaction_id is not None:
        _lock(connection, program_id, transaction_id)
    for each in (returned, *returned.listed):
        _save(connection, program_id, each)
    if transaction_id is not None:
        refund_difference(connection, program_id, transaction_id, at=at)
    return transaction_id


def refund_difference(connection: Connection, program_id: int, transaction_id: str, *, at: datetime) -> None:
    """Refund the part of a sale's returns that its refunds, including the API's with the same id, do not cover."""
    sale = _lock(connection, program_id, transaction_id)
    reported = reported_returns.of_sale(connection, program_id, transaction_id)
    named_cents = reported_returns.named_cents(connection, program_id, sale.id, reported)
    gone_cents = min(returned_cents(reported, named_cents=named_cents), sale.amount_cents)
    taken = refund_events.c
    ours = or_(taken.refund_id.startswith(OURS), taken.refund_id.in_([each.return_id for each in reported]))
    of_sale = (taken.program_id == program_id, taken.sale_id == sale.id, ours)
    total = select(func.coalesce(func.sum(taken.amount_cents), 0), func.count()).where(*of_sale)
    taken_cents, times = connection.execute(total).one()
    cents = min(gone_cents - named_cents - int(taken_cents), sale.amount_cents - sale.refunded_cents)
    if cents:
        program = program_terms.load_one(connection, program_id)
        change = Refund(transaction_id, at, abs(cents), f"{OURS}{times + 1}", "payment processor")
        (refunds.record if cents > 0 else refunds.reinstate)(connection, program, change)


def _lock(connection: Connection, program_id: int, transaction_id: str) -> Any:
    """Lock a sale before its returns, as a refund by the API does: of two reports, one sees the other."""
    sale = sales.c
    mine = (sale.program_id == program_id, sale.transaction_id == transaction_id)
    rows = select(sale.id, sale.amount_cents, sale.refunded_cents).where(*mine)
    return connection.execute(rows.with_for_update()).one()


def _save(connection: Connection, program_id: int, returned: Returned) -> None:
    row = payment_returns.c
    mine = (row.program_id == program_id, row.reference == returned.reference, row.return_id == returned.return_id)
    reported = {"amount_cents": returned.amount_cents, "stands": returned.stands, "told_at": returned.told_at}
    names = {"reference": returned.reference, "return_id": returned.return_id, "kind": returned.kind}
    new = insert_for(connection)(payment_returns).values(program_id=program_id, **names, **reported)
    if connection.execute(new.on_conflict_do_nothing().returning(row.return_id)).scalar() is None:
        if returned.kind == ReturnKind.TOTAL:
            newer = row.amount_cents <= returned.amount_cents
        elif returned.kind == ReturnKind.DISPUTE and returned.stands:
            newer = row.told_at < returned.told_at  # opened and closed in the same second: it is closed
        else:
            newer = row.told_at <= returned.told_at
        connection.execute(update(payment_returns).where(*mine, newer).values(**reported))
