"""Money that the payment processor reported as returned on a sale, and the refunds of the API that are the same."""

from collections.abc import Collection
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, and_, func, insert, or_, select

from storage.rules.payment import NAMED_BY_PROCESSOR, Returned, ReturnKind, unnamed_cents
from storage.tables import payment_references, payment_returns, refunds


def of_sale(connection: Connection, program_id: int, transaction_id: str) -> list[Returned]:
    """Return what the processor reported as returned on a sale, which the caller has locked."""
    known, row = payment_references.c, payment_returns.c
    of_payment = and_(row.program_id == known.program_id, row.reference == known.reference)
    mine = (known.program_id == program_id, known.transaction_id == transaction_id)
    rows = select(payment_returns).join(payment_references, of_payment).where(*mine)
    return [
        Returned(each.reference, each.return_id, ReturnKind(each.kind), each.amount_cents, each.stands, each.told_at)
        for each in connection.execute(rows)
    ]


def named_cents(connection: Connection, program_id: int, sale_id: int, reported: Collection[Returned]) -> int:
    """Return the sum of the refunds that the API alone reported, under ids of the processor's."""
    row = refunds.c
    named = or_(*(row.refund_id.startswith(prefix, autoescape=True) for prefix in NAMED_BY_PROCESSOR))
    unreported = row.refund_id.not_in([each.return_id for each in reported])
    mine = (row.program_id == program_id, row.sale_id == sale_id, named, unreported)
    return int(connection.execute(select(func.coalesce(func.sum(row.amount_cents), 0)).where(*mine)).scalar_one())


def find(connection: Connection, sale: Any, refund_id: str, cents: int | None, *, at: datetime) -> int | None:
    """Return the cents that the processor reported under a refund's id; None if it reported no such refund.

    An id of the processor's names a part of a total that came without ids, if the part is large enough: it is saved.
    """
    reported = of_sale(connection, sale.program_id, sale.transaction_id)
    same = next((each for each in reported if each.return_id == refund_id), None)
    total = next((each for each in reported if each.kind == ReturnKind.TOTAL), None)
    if same is not None:
        return same.amount_cents
    if total is None or cents is None or not refund_id.startswith(NAMED_BY_PROCESSOR):
        return None
    if cents > unnamed_cents(reported, named_cents=named_cents(connection, sale.program_id, sale.id, reported)):
        return None
    named = Returned(total.reference, refund_id, ReturnKind.REFUND, cents, stands=True, told_at=at)._asdict()
    del named["listed"]
    connection.execute(insert(payment_returns).values(program_id=sale.program_id, **named))
    return cents
