"""Sales already recorded under the same transaction_id, or likely reported from another source."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, Connection, Text, and_, exists, literal, or_, select, union_all

from storage.engine.database import lock_shared
from storage.engine.statements import Parameters, Prepared
from storage.rules.errors import DuplicateTransaction
from storage.rules.reconciliation import WITHIN
from storage.tables import payment_accounts, payment_references, sales
from storage.tables.columns import from_millis, to_millis


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
    payload_hash: str


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
            sale = RecordedSale(row.transaction_id, row.id, from_millis(row.at), row.payload_hash)
            matches = self._likely if row.is_likely else self._same
            matches.setdefault((row.program_id, row.asked_id), sale)

    def same(self, program_id: int, transaction_id: str) -> RecordedSale | None:
        """Return the sale of this transaction_id."""
        return self._same.get((program_id, transaction_id))

    def require_no_likely_duplicate(self, program_id: int, transaction_id: str) -> None:
        """Raise DuplicateTransaction for what the connected payment account is likely to have reported."""
        likely = self._likely.get((program_id, transaction_id))
        if likely is not None:
            raise DuplicateTransaction(
                f"The connected payment account reported what is likely this sale, as {likely.transaction_id}.",
                hint="Report each sale from one place. Nothing was recorded for this call.",
                existing={"eventId": likely.id, "recorded_at": likely.at},
                same_payload=False,
            )

    def add(self, program_id: int, sale: RecordedSale) -> None:
        """Count a sale of this batch as recorded."""
        self._same[program_id, sale.transaction_id] = sale


def find_reported_by_api(connection: Connection, query: SaleQuery) -> str | None:
    """Return the transaction_id of the API's sale that matches a payment by id or is similar; None without one."""
    sale = sales.c
    within = sale.occurred_at.between(query.occurred_at - WITHIN, query.occurred_at + WITHIN)
    paid = (sale.amount_cents == query.amount_cents, sale.currency == query.currency)
    alike = and_(sale.customer_id == query.customer_id, *paid, within)
    references = payment_references.c
    of_payments = select(references.transaction_id).where(references.program_id == query.program_id)
    mine = (
        sale.program_id == query.program_id,
        or_(alike, sale.transaction_id == query.transaction_id),
        sale.transaction_id.not_in(of_payments),
    )
    return connection.execute(select(sale.transaction_id).where(*mine).order_by(sale.id).limit(1)).scalar()


def _parameters(query: SaleQuery) -> tuple[Any, ...]:
    earliest, latest = (to_millis(query.occurred_at + distance) for distance in (-WITHIN, WITHIN))
    return (*query[:5], earliest, latest)


def _build_find(_: Callable[..., Any]) -> Any:
    parameters = Parameters(
        program_id=BigInteger(),
        transaction_id=Text(),
        customer_id=BigInteger(),
        amount_cents=BigInteger(),
        currency=Text(),
        earliest=BigInteger(),
        latest=BigInteger(),
    )
    sale, reference = sales.c, payment_references.c
    shown = (
        parameters.transaction_id.label("asked_id"),
        *(sale[name] for name in ("program_id", "transaction_id", "id")),
    )
    shown = (*shown, sale.at, sale.payload_hash)
    same = and_(sale.program_id == parameters.program_id, sale.transaction_id == parameters.transaction_id)
    by_processor = exists().where(
        reference.program_id == sale.program_id,
        reference.transaction_id == sale.transaction_id,
        parameters.reach(payment_references),
    )
    alike = and_(
        sale.program_id == parameters.program_id,
        sale.customer_id == parameters.customer_id,
        sale.amount_cents == parameters.amount_cents,
        sale.currency == parameters.currency,
        sale.occurred_at >= parameters.earliest,
        sale.occurred_at <= parameters.latest,
        sale.transaction_id != parameters.transaction_id,
        by_processor,
    )
    return union_all(
        select(*shown, literal(0).label("is_likely")).select_from(parameters.rows.join(sales, same)),
        select(*shown, literal(1).label("is_likely")).select_from(parameters.rows.join(sales, alike)),
    )


_find = Prepared(_build_find)
