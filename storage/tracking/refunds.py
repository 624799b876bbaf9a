"""Refunds: money goes back to the customer, and the partner's commission is reversed in proportion."""

from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, insert, select, update

from storage.engine import ids
from storage.rules import commission
from storage.rules.errors import TransactionNotFound
from storage.rules.money import RefundStatus, refund_cents, refund_status
from storage.tables import commissions, refunds, sales
from storage.tracking import ledger, reported_returns, rollups
from storage.tracking.program_terms import ProgramTerms


class Refund(NamedTuple):
    """A refund as a call sent it; `amount_cents` None means all that remains, in the sale's currency.

    `request_id` identifies the call, so that a second run of it is the same refund.
    """

    transaction_id: str
    at: datetime
    amount_cents: int | None = None
    refund_id: str | None = None
    reason: str | None = None
    request_id: str | None = None


class RefundResult(NamedTuple):
    """The refunded and remaining cents in the sale's currency, and the reversed ones in the program's."""

    status: RefundStatus
    refunded_cents: int
    refunded_total_cents: int
    remaining_cents: int
    commission_id: int | None
    commission_reversed_cents: int
    replayed: bool = False


class _EarlierRefund(NamedTuple):
    """The refund that a call repeats; `is_second_run` if the service runs the very call again."""

    amount_cents: int
    reversed_cents: int
    is_second_run: bool = False


def record(connection: Connection, program: ProgramTerms, call: Refund) -> RefundResult:
    """Record a refund, reverse its share of the commission, and subtract both from the days that counted them.

    Raises TransactionNotFound, RefundExceedsSale.
    """
    sale = _sale(connection, program.id, call.transaction_id)
    earned = _commission(connection, sale)
    done = _earlier(connection, sale, call) or _reported(connection, sale, earned, call)
    if done is not None:
        cents, reversed_cents, total_cents = done.amount_cents, done.reversed_cents, sale.refunded_cents
    else:
        before_cents = sale.refunded_cents
        cents = refund_cents(call.amount_cents, sale_cents=sale.amount_cents, refunded_before_cents=before_cents)
        reversed_cents = _take_back(connection, call, sale, earned, cents) if cents else 0
        total_cents = before_cents + cents
    remaining_cents = sale.amount_cents - total_cents
    return RefundResult(
        refund_status(refunded_cents=cents, remaining_cents=remaining_cents),
        cents,
        total_cents,
        remaining_cents,
        earned.id if earned else None,
        reversed_cents,
        replayed=done is not None and not done.is_second_run,
    )


def reinstate(connection: Connection, program: ProgramTerms, call: Refund) -> int:
    """Undo `amount_cents` of a sale's refunds, as when a dispute is won; return the commission's part.

    Raises TransactionNotFound.
    """
    sale = _sale(connection, program.id, call.transaction_id)
    return -_take_back(connection, call, sale, _commission(connection, sale), -(call.amount_cents or 0))


def _sale(connection: Connection, program_id: int, transaction_id: str) -> Any:
    mine = (sales.c.program_id == program_id, sales.c.transaction_id == transaction_id)
    sale = connection.execute(select(sales).where(*mine).with_for_update()).one_or_none()
    if sale is None:
        raise TransactionNotFound
    return sale


def _commission(connection: Connection, sale: Any) -> Any:
    mine = (commissions.c.program_id == sale.program_id, commissions.c.sale_id == sale.id)
    return connection.execute(select(commissions).where(*mine).with_for_update()).one_or_none()


def _earlier(connection: Connection, sale: Any, call: Refund) -> _EarlierRefund | None:
    """Return the stored refund with the call's refund_id, or without one, that of its first run."""
    if not (call.refund_id or call.request_id):
        return None
    row = refunds.c
    same = row.refund_id == call.refund_id if call.refund_id else row.request_id == call.request_id
    mine = (row.program_id == sale.program_id, row.sale_id == sale.id, same)
    stored = connection.execute(select(refunds).where(*mine)).one_or_none()
    if stored is None:
        return None
    is_second_run = call.request_id is not None and call.request_id == stored.request_id
    return _EarlierRefund(stored.amount_cents, stored.reversed_cents, is_second_run)


def _reported(connection: Connection, sale: Any, earned: Any, call: Refund) -> _EarlierRefund | None:
    """Return the refund that the payment processor reported under the same id, with its share of the commission."""
    if call.refund_id is None:
        return None
    cents = reported_returns.find(connection, sale, call.refund_id, call.amount_cents, at=call.at)
    if cents is None:
        return None
    whole = earned.amount_cents if earned else 0
    left = commission.of_remaining(whole, sale_cents=sale.amount_cents, refunded_cents=min(cents, sale.amount_cents))
    return _EarlierRefund(cents, whole - left)


def _take_back(connection: Connection, call: Refund, sale: Any, earned: Any, cents: int) -> int:
    """Store the refund (negative for a reinstatement) and its effects; return the reversed commission."""
    event_id = ids.after(call.at, 1)[0]
    total_cents = sale.refunded_cents + cents

    def remaining(whole_cents: int, refunded_cents: int = total_cents) -> int:
        return commission.of_remaining(whole_cents, sale_cents=sale.amount_cents, refunded_cents=refunded_cents)

    program_cents = remaining(sale.program_cents, sale.refunded_cents) - remaining(sale.program_cents)
    reversed_cents = ledger.reverse(connection, earned, keep=remaining, refund_id=event_id, at=call.at) if earned else 0
    connection.execute(
        insert(refunds).values(
            program_id=sale.program_id,
            id=event_id,
            sale_id=sale.id,
            refund_id=call.refund_id,
            amount_cents=cents,
            program_cents=program_cents,
            reversed_cents=reversed_cents,
            reason=call.reason,
            request_id=call.request_id,
            at=call.at,
        )
    )
    this_sale = (sales.c.program_id == sale.program_id, sales.c.id == sale.id)
    connection.execute(update(sales).where(*this_sale).values(refunded_cents=total_cents))
    mine = (sale.program_id, sale.partner_id)
    counted = int(sale.refunded_cents == sale.amount_cents) - int(total_cents == sale.amount_cents)
    day = rollups.day_of(sale.occurred_at)
    back = [rollups.Increment(*mine, day, sales=counted, revenue_cents=-program_cents)]
    if earned:
        created = rollups.day_of(earned.created_at)
        back.append(rollups.Increment(*mine, created, commission_cents=-reversed_cents))
    rollups.add(connection, back)
    return reversed_cents
