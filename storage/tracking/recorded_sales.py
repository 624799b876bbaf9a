"""Sales already recorded under the same transaction_id, or likely reported from another source."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, and_, or_, select

from storage.engine.database import lock_shared
from storage.engine.statements import Statement
from storage.rules.reconciliation import WITHIN
from storage.tables import payment_accounts, payment_references, sales
from storage.tables.columns import from_millis, to_millis

INTENTS = ("pi_", "ch_", "py_")  # how the names of what pays begin
_find = Statement("sale_lookup")


class SaleQuery(NamedTuple):
    """A sale to look up; with `customer_id` also a likely duplicate among the payment account's sales."""

    program_id: int
    transaction_id: str
    customer_id: int | None
    amount_cents: int
    currency: str
    occurred_at: datetime


class RecordedSale(NamedTuple):
    """A sale that is stored, or accepted earlier in the batch."""

    transaction_id: str
    id: int
    at: datetime
    customer_id: int
    amount_cents: int
    currency: str


class RecordedSales:
    """The recorded sales that a batch may repeat, loaded by one statement.

    Before it looks for likely duplicates, the batch takes a lock that events of the same payment accounts also
    take, so that of two concurrent reports one sees the other.
    """

    def __init__(self, connection: Connection, queries: Sequence[SaleQuery]) -> None:
        compared = sorted({query.program_id for query in queries if query.customer_id is not None})
        if compared:
            account = payment_accounts.c.program_id
            lock_shared(connection, select(account).where(account.in_(compared)).order_by(account))
        self._same: dict[tuple[int, str], RecordedSale] = {}
        self._likely: dict[tuple[int, str], RecordedSale] = {}
        for row in _find(connection, list(dict.fromkeys(_parameters(query) for query in queries))):
            said = (row.customer_id, row.amount_cents, row.currency)
            sale = RecordedSale(row.transaction_id, row.id, from_millis(row.at), *said)
            matches = self._likely if row.is_likely else self._same
            matches.setdefault((row.program_id, row.reported_id), sale)

    def same(self, program_id: int, transaction_id: str) -> RecordedSale | None:
        """Return the sale of this transaction_id."""
        return self._same.get((program_id, transaction_id))

    def likely(self, program_id: int, transaction_id: str) -> RecordedSale | None:
        """Return the sale by the connected payment account that this one possibly repeats."""
        return self._likely.get((program_id, transaction_id))

    def add(self, program_id: int, sale: RecordedSale) -> None:
        """Count a sale of this batch as recorded."""
        self._same[program_id, sale.transaction_id] = sale


def find_other_report(connection: Connection, query: SaleQuery, names: Sequence[str], *, is_bare: bool) -> Any:
    """Return the row of a sale that may be the payment with these names; None without one.

    It is the API's, by id or because it is similar; or a similar payment, one of them bare and the other without the
    name of what paid it, so that nothing links the two.
    """
    sale = sales.c
    within = sale.occurred_at.between(query.occurred_at - WITHIN, query.occurred_at + WITHIN)
    paid = (sale.amount_cents == query.amount_cents, sale.currency == query.currency)
    alike = and_(sale.customer_id == query.customer_id, *paid, within)
    references = payment_references.c
    of_payments = select(references.transaction_id).where(references.program_id == query.program_id)
    intents = of_payments.where(or_(*(references.reference.startswith(each, autoescape=True) for each in INTENTS)))
    by_api = and_(or_(alike, sale.transaction_id == query.transaction_id), sale.transaction_id.not_in(of_payments))
    if is_bare:
        unlinked = and_(sale.transaction_id.in_(of_payments), sale.transaction_id.not_in(intents))
    else:
        unlinked = sale.transaction_id.in_(intents.where(references.reference == sale.transaction_id))
    may_be_apart = is_bare or not any(name.startswith(INTENTS) for name in names)
    either = or_(by_api, and_(alike, unlinked)) if may_be_apart else by_api
    mine = (sale.program_id == query.program_id, either)
    return connection.execute(select(sales).where(*mine).order_by(sale.id).limit(1)).one_or_none()


def _parameters(query: SaleQuery) -> tuple[Any, ...]:
    earliest, latest = (to_millis(query.occurred_at + distance) for distance in (-WITHIN, WITHIN))
    return (*query[:5], earliest, latest)
