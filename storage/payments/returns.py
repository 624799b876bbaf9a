"""Returned money: saves refunds and disputes of the payment processor, in any order, and refunds their sale."""

from datetime import datetime

from sqlalchemy import Connection, func, or_, select, update

from storage.engine.database import insert_for
from storage.rules.payment import Returned, ReturnKind, returned_cents
from storage.tables import payment_references, payment_returns, sales
from storage.tables import refunds as refund_events
from storage.tracking import program_terms, refunds
from storage.tracking.refunds import Refund

OURS = "payments:"


def save(connection: Connection, program_id: int, returned: Returned, *, at: datetime) -> str | None:
    """Save a returned amount unless a newer one is stored; return the transaction_id of its sale, if it is known."""
    row = payment_returns.c
    mine = (row.program_id == program_id, row.reference == returned.reference, row.return_id == returned.return_id)
    reported = {"amount_cents": returned.amount_cents, "stands": returned.stands, "told_at": returned.told_at}
    new = insert_for(connection)(payment_returns).values(program_id=program_id, **returned._asdict())
    if connection.execute(new.on_conflict_do_nothing().returning(row.return_id)).scalar() is None:
        if returned.kind == ReturnKind.TOTAL:
            newer = row.amount_cents <= returned.amount_cents
        elif returned.kind == ReturnKind.DISPUTE and returned.stands:
            newer = row.told_at < returned.told_at  # opened and closed in the same second: it is closed
        else:
            newer = row.told_at <= returned.told_at
        connection.execute(update(payment_returns).where(*mine, newer).values(**reported))
    known = payment_references.c
    of_payment = (known.program_id == program_id, known.reference == returned.reference)
    transaction_id = connection.execute(select(known.transaction_id).where(*of_payment)).scalar()
    if transaction_id is not None:
        refund_difference(connection, program_id, transaction_id, at=at)
    return transaction_id


def refund_difference(connection: Connection, program_id: int, transaction_id: str, *, at: datetime) -> None:
    """Refund the part of a sale's returns that its refunds, including the API's with the same id, do not cover."""
    reported = _reported(connection, program_id, transaction_id)
    sale = sales.c
    mine = (sale.program_id == program_id, sale.transaction_id == transaction_id)
    recorded = connection.execute(select(sale.id, sale.amount_cents, sale.refunded_cents).where(*mine)).one()
    gone_cents = min(returned_cents(reported), recorded.amount_cents)
    taken = refund_events.c
    ours = or_(taken.refund_id.startswith(OURS), taken.refund_id.in_([each.return_id for each in reported]))
    of_sale = (taken.program_id == program_id, taken.sale_id == recorded.id, ours)
    total = select(func.coalesce(func.sum(taken.amount_cents), 0), func.count()).where(*of_sale)
    taken_cents, times = connection.execute(total).one()
    cents = min(gone_cents - int(taken_cents), recorded.amount_cents - recorded.refunded_cents)
    if cents:
        program = program_terms.load_one(connection, program_id)
        change = Refund(transaction_id, at, abs(cents), f"{OURS}{times + 1}", "payment processor")
        (refunds.record if cents > 0 else refunds.reinstate)(connection, program, change)


def _reported(connection: Connection, program_id: int, transaction_id: str) -> list[Returned]:
    known, row = payment_references.c, payment_returns.c
    names = select(known.reference).where(known.program_id == program_id, known.transaction_id == transaction_id)
    mine = select(payment_returns).where(row.program_id == program_id, row.reference.in_(names))
    return [
        Returned(each.reference, each.return_id, ReturnKind(each.kind), each.amount_cents, each.stands, each.told_at)
        for each in connection.execute(mine)
    ]
