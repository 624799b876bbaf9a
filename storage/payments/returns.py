"""Returned money: saves refunds and disputes of the payment processor, in any order, and refunds their sale."""

from datetime import datetime

from sqlalchemy import Connection, select, update

from storage.engine.database import insert_for
from storage.rules.payment import Returned, ReturnKind
from storage.tables import payment_references, payment_returns, sales
from storage.tracking import refunds


def save(connection: Connection, program_id: int, returned: Returned, *, at: datetime) -> tuple[str | None, bool]:
    """Save a returned amount unless a newer one is stored, and refund its sale.

    Return the sale's transaction_id, if it is known, and whether a person has to decide on the amount.
    """
    known = payment_references.c
    of_payment = (known.program_id == program_id, known.reference == returned.reference)
    transaction_id = connection.execute(select(known.transaction_id).where(*of_payment)).scalar()
    if transaction_id is not None:  # locked before its returns, as by the API: of two reports, one sees the other
        sale = (sales.c.program_id == program_id, sales.c.transaction_id == transaction_id)
        connection.execute(select(sales.c.id).where(*sale).with_for_update())
    for each in (returned, *returned.listed):
        _save(connection, program_id, each)
    is_held = transaction_id is not None and refunds.follow(connection, program_id, transaction_id, at=at)
    return transaction_id, is_held


def _save(connection: Connection, program_id: int, returned: Returned) -> None:
    row = payment_returns.c
    mine = (row.program_id == program_id, row.reference == returned.reference, row.return_id == returned.return_id)
    reported = {"amount_cents": returned.amount_cents, "stands": returned.stands, "told_at": returned.told_at}
    names = {"reference": returned.reference, "return_id": returned.return_id, "kind": returned.kind}
    new = insert_for(connection)(payment_returns).values(program_id=program_id, **names, **reported)
    if connection.execute(new.on_conflict_do_nothing().returning(row.return_id)).scalar() is None:
        if returned.kind == ReturnKind.TOTAL:  # beside the earlier ones: each step between them was refunded then
            stored = connection.execute(select(row.amount_cents, row.totals).where(*mine)).one()
            totals = {returned.amount_cents, *map(int, (stored.totals or str(stored.amount_cents)).split(","))}
            values = {"amount_cents": max(totals), "totals": ",".join(map(str, sorted(totals)))}
            connection.execute(update(payment_returns).where(*mine).values(**values))
        else:  # of one second: a dispute that was opened and closed is closed
            is_open = returned.kind == ReturnKind.DISPUTE and returned.stands
            newer = row.told_at < returned.told_at if is_open else row.told_at <= returned.told_at
            connection.execute(update(payment_returns).where(*mine, newer).values(**reported))
