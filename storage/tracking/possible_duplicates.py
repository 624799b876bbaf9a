"""Twins: two sales that may be one, told once by the API and once by the payment processor."""

from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, and_, or_, select

from storage.tables import payment_accounts, payment_references, sales

WITHIN = timedelta(minutes=10)


class ReportedSale(NamedTuple):
    """A sale as one side tells it; the amount is in minor units of `currency`."""

    transaction_id: str
    customer_id: int
    amount_cents: int
    currency: str
    occurred_at: datetime


def of_api(connection: Connection, program_id: int, told: ReportedSale) -> Any:
    """Return the API's sale that a payment may be: its row, None where there is none."""
    same = or_(_alike(told), sales.c.transaction_id == told.transaction_id)
    return _first(connection, program_id, and_(same, sales.c.transaction_id.not_in(_of_payments(program_id))))


def of_payments(connection: Connection, program_id: int, told: ReportedSale) -> Any:
    """Return the payment's sale that a sale of the API may be: its row, None where there is none.

    It waits for an event of the payment account that is being taken (payments.take locks the account's row), and an
    event waits for it: of two that come together, one sees the other.
    """
    account = select(payment_accounts.c.program_id).where(payment_accounts.c.program_id == program_id)
    connection.execute(account.with_for_update(read=True))
    return _first(connection, program_id, and_(_alike(told), sales.c.transaction_id.in_(_of_payments(program_id))))


def _alike(told: ReportedSale) -> ColumnElement[bool]:
    return and_(
        sales.c.customer_id == told.customer_id,
        sales.c.amount_cents == told.amount_cents,
        sales.c.currency == told.currency,
        sales.c.occurred_at.between(told.occurred_at - WITHIN, told.occurred_at + WITHIN),
    )


def _of_payments(program_id: int) -> Any:
    return select(payment_references.c.transaction_id).where(payment_references.c.program_id == program_id)


def _first(connection: Connection, program_id: int, found: ColumnElement[bool]) -> Any:
    mine = select(sales).where(sales.c.program_id == program_id, found)
    return connection.execute(mine.order_by(sales.c.id).limit(1)).first()
