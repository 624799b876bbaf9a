"""Transaction ids: the unique key (program_id, transaction_id) decides whether a sale is new."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, Connection, Text, and_, select

from storage.engine.statements import Given, Prepared, insert_given
from storage.rules.errors import DuplicateTransaction
from storage.tables import sales
from storage.tables.columns import from_millis


class Claim(NamedTuple):
    """A sale's row, in the order of the insert; moments in milliseconds."""

    program_id: int
    id: int
    transaction_id: str
    customer_id: int
    partner_id: int
    amount_cents: int
    currency: str
    program_cents: int
    details: str | None
    customer_key: str | None
    payload_hash: str
    occurred_at: int
    at: int


def claim(connection: Connection, claims: Sequence[Claim]) -> dict[int, DuplicateTransaction]:
    """Insert the sales whose transaction_id is new; return a refusal for the id of each that is not."""
    inserted = {row.id for row in _insert(connection, claims)}
    duplicates = [item for item in claims if item.id not in inserted]
    if not duplicates:
        return {}
    wanted = [[item.program_id, item.transaction_id] for item in duplicates]
    stored = {(row.program_id, row.transaction_id): row for row in _find(connection, wanted)}
    return {item.id: _refusal(item, stored[item.program_id, item.transaction_id]) for item in duplicates}


def _refusal(item: Claim, stored: Any) -> DuplicateTransaction:
    existing = {"eventId": stored.id, "recorded_at": from_millis(stored.at)}
    return DuplicateTransaction(existing=existing, same_payload=stored.payload_hash == item.payload_hash)


def _build_insert(insert: Callable[..., Any]) -> Any:
    types = {name: BigInteger() if kind is int else Text() for name, kind in Claim.__annotations__.items()}
    statement = insert_given(insert, sales, Given(**types))
    return statement.on_conflict_do_nothing(index_elements=["program_id", "transaction_id"]).returning(sales.c.id)


def _build_find(_: Callable[..., Any]) -> Any:
    given = Given(program_id=BigInteger(), transaction_id=Text())
    same = and_(sales.c.program_id == given.program_id, sales.c.transaction_id == given.transaction_id)
    sale = sales.c
    found = given.rows.join(sales, same)
    return select(sale.program_id, sale.transaction_id, sale.id, sale.at, sale.payload_hash).select_from(found)


_insert = Prepared(_build_insert)
_find = Prepared(_build_find)
