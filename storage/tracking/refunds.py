"""Refunds: money goes back to the customer, and the partner's commission is reversed in proportion."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection, update

from storage.engine import ids
from storage.engine.group_commit import set_based
from storage.engine.statements import named_statement
from storage.rules.errors import RefundExceedsSale, ServiceError
from storage.rules.money import RefundStatus, refund_status
from storage.rules.payment import ReturnKind
from storage.rules.returned_money import ReturnedMoney, SaleRefund
from storage.tables import refunds
from storage.tracking.program_terms import ProgramTerms
from storage.tracking.refunded_sales import OURS, RefundedSale, RefundedSales

_HOLD = named_statement("payment_events_hold")


class Refund(NamedTuple):
    transaction_id: str
    at: datetime
    amount_cents: int | None = None  # in the sale's currency; None: all that remains
    refund_id: str | None = None
    reason: str | None = None
    request_id: str | None = None  # identifies the call, so that a second run of it is the same refund
    caller: str | None = None


class RefundResult(NamedTuple):
    """The refunded and remaining cents in the sale's currency, and the reversed ones in the program's."""

    status: RefundStatus
    refunded_cents: int
    refunded_total_cents: int
    remaining_cents: int
    commission_id: int | None
    commission_reversed_cents: int
    replayed: bool = False  # another report took them back
    is_held: bool = False  # that is not certain, and a person decides


@set_based
def record(connection: Connection, batch: Sequence[tuple[ProgramTerms, Refund]]) -> list[RefundResult | ServiceError]:
    """Record refunds, reverse their shares of the commissions, and subtract both from the days that counted them."""
    at = max(call.at for _, call in batch)
    refunded = RefundedSales(connection, [(program.id, call.transaction_id) for program, call in batch])
    results: list[RefundResult | ServiceError] = []
    for program, call in batch:
        try:
            results.append(_decide(refunded, program.id, call))
        except ServiceError as error:
            results.append(error)
    refunded.save(at=at)
    for sale in refunded.newly_decided():
        _hold(connection, sale)
    return results


def follow(connection: Connection, program_id: int, transaction_id: str, *, at: datetime) -> bool:
    """Refund a sale, or reinstate what was refunded, as all reports say; return whether a part of it is held."""
    refunded = RefundedSales(connection, [(program_id, transaction_id)])
    sale = refunded.require(program_id, transaction_id)
    if cents := sale.due_cents(sale.returned().cents):
        refund_id = f"{OURS}{len(sale.refunds) + 1}"
        refund = SaleRefund(ids.after(at, 1)[0], refund_id, cents, taken_cents=cents, reason="payment processor")
        refunded.take_back(sale, refund, at=at)
        refunded.save(at=at)
    return _hold(connection, sale)


def decide_held(connection: Connection, program_id: int, transaction_id: str, *, is_same: bool, at: datetime) -> bool:
    """Save whether the processor's reports include the held refunds of the API; return whether any is still held."""
    sale = RefundedSales(connection, [(program_id, transaction_id)]).require(program_id, transaction_id)
    held = [each.row_id for each in sale.returned().held]
    decided = update(refunds).where(refunds.c.program_id == program_id, refunds.c.id.in_(held))
    connection.execute(decided.values(in_account=is_same))
    return follow(connection, program_id, transaction_id, at=at)


def _decide(refunded: RefundedSales, program_id: int, call: Refund) -> RefundResult:
    """Store a refund, unless it was stored or reported before, and return the result."""
    sale = refunded.require(program_id, call.transaction_id)
    if (stored := sale.stored(call.refund_id, call.request_id)) is not None:
        reversed_cents = stored.reversed_cents if stored.taken_cents else sale.share_of_commission(stored.cents)
        is_replayed = call.request_id is None or call.request_id != stored.request_id
        return _result(sale, stored.cents, reversed_cents, replayed=is_replayed)
    refunds_reported = (each for each in sale.reported if each.kind == ReturnKind.REFUND)
    if reported := next((each for each in refunds_reported if each.return_id == call.refund_id), None):
        return _result(sale, reported.amount_cents, sale.share_of_commission(reported.amount_cents), replayed=True)
    remaining_cents = sale.remaining_cents
    cents, in_account = (remaining_cents, False) if call.amount_cents is None else (call.amount_cents, None)
    sent = (call.request_id, call.reason, call.caller)
    new = SaleRefund(ids.after(call.at, 1)[0], call.refund_id, cents, in_account, *sent)
    money = sale.returned(new) if sale.reported else ReturnedMoney(sale.refunded_cents + new.cents)
    if remaining_cents and new.cents > remaining_cents and money.cents > sale.row.amount_cents:
        raise RefundExceedsSale(f"The refund asks for {new.cents} cents; {remaining_cents} remain.")
    taken_cents = max(sale.due_cents(money.cents), 0)
    reversed_cents = 0
    if taken_cents or (sale.reported and new.cents):
        reversed_cents = refunded.take_back(sale, new._replace(taken_cents=taken_cents), at=call.at)
    if not remaining_cents:
        return _result(sale, 0, 0)
    is_held = new in money.held
    is_known = not (taken_cents or is_held)
    reversed_cents = sale.share_of_commission(new.cents) if is_known else reversed_cents
    return _result(sale, new.cents, reversed_cents, replayed=is_known, is_held=is_held)


def _result(sale: RefundedSale, cents: int, reversed_cents: int, **known: bool) -> RefundResult:
    left_cents = sale.remaining_cents
    status = refund_status(refunded_cents=cents, remaining_cents=left_cents)
    commission_id = sale.commission.id if sale.commission else None
    return RefundResult(status, cents, sale.refunded_cents, left_cents, commission_id, reversed_cents, **known)


def _hold(connection: Connection, sale: RefundedSale) -> bool:
    """Hold the newest event about what was returned of a sale while a person has to decide; return whether it is."""
    if not sale.reported:
        return False
    named = {"program_id": sale.row.program_id, "transaction_id": sale.row.transaction_id}
    references = list({each.reference for each in sale.reported})
    connection.execute(_HOLD, {**named, "names": references, "is_held": sale.is_held})
    return sale.is_held
