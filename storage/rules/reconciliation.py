"""Reconciliation: compares a customer's payments with the recorded sales, and proposes corrections."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, NamedTuple

from storage.rules.settlement import Settlement

WITHIN = timedelta(minutes=10)  # two reports this close may be one payment
CORRECTED = ":corrected"


class Code(StrEnum):
    """What can be wrong about a payment."""

    MISSING = "missing"
    RENEWAL_NOT_REPORTED = "renewal_not_reported"
    DOUBLED = "doubled"
    AMOUNT_MISMATCH = "amount_mismatch"
    CURRENCY_MISMATCH = "currency_mismatch"
    REFUND_MISSING = "refund_missing"


class Payment(NamedTuple):
    """A payment in the processor's export, in minor units; `names` are its ids, with the transaction_id first."""

    line: int
    names: tuple[str, ...]
    amount_cents: int
    returned_cents: int
    currency: str
    occurred_at: datetime
    customer_key: str | None = None
    click_id: str | None = None
    processor_customer: str | None = None


class Recorded(NamedTuple):
    """A recorded sale with all its ids."""

    transaction_id: str
    amount_cents: int
    refunded_cents: int
    currency: str
    occurred_at: datetime
    names: frozenset[str]
    by_processor: bool  # the connected payment account reported it
    is_separate: bool = False  # a person decided that it is no duplicate of a payment

    @property
    def left_cents(self) -> int:
        return self.amount_cents - self.refunded_cents

    def match_quality(self, payment: Payment) -> tuple[bool, bool, bool]:
        """Return how well this matches a payment with one of its ids; higher is better."""
        return (self.left_cents > 0, self.currency == payment.currency, self.amount_cents == payment.amount_cents)


class CorrectingCall(NamedTuple):
    """A call of the tracking API, with the program's key, that corrects the difference; repeating it is safe."""

    path: str
    body: dict[str, Any]


class PaymentFinding(NamedTuple):
    """A difference; `recorded_cents` is null without a sale, `reason` says why no call can correct it."""

    code: Code
    line: int
    transaction_id: str
    paid_cents: int
    returned_cents: int
    currency: str
    recorded_cents: int | None
    recorded_refunded_cents: int | None
    recorded_currency: str | None
    calls: tuple[CorrectingCall, ...]
    reason: str | None


def judge(payments: Sequence[Payment], recorded: Sequence[Recorded], buyer: Any) -> list[PaymentFinding]:
    """Return what is wrong about the payments of a customer (`buyer`), given their recorded sales."""
    named = {paid.line: [sale for sale in recorded if sale.names.intersection(paid.names)] for paid in payments}
    known = {sale.transaction_id for sales in named.values() for sale in sales}
    unnamed = [sale for sale in recorded if sale.transaction_id not in known]
    free = [sale for sale in unnamed if sale.left_cents > 0 and not sale.by_processor]
    findings: list[PaymentFinding] = []
    for payment in payments:
        fitting = sorted(named[payment.line], key=lambda sale: sale.match_quality(payment), reverse=True)
        best = fitting[0] if fitting else _take(free, payment)
        findings += [_doubled(payment, sale) for sale in fitting[1:] if sale.left_cents > 0]
        findings += _compared(payment, best, buyer) if best else _unrecorded(payment, buyer)
    free = [sale for sale in free if not sale.is_separate]
    for payment in payments:
        while (duplicate := _take(free, payment)) is not None:
            findings.append(_doubled(payment, duplicate))
    return findings


def _take(free: list[Recorded], payment: Payment) -> Recorded | None:
    """Take the first sale that may be the payment, reported under an id of the shop, and that matches no other one."""
    for sale in free:
        same = (sale.amount_cents, sale.currency) == (payment.amount_cents, payment.currency)
        if same and abs(sale.occurred_at - payment.occurred_at) <= WITHIN:
            free.remove(sale)
            return sale
    return None


def _compared(payment: Payment, sale: Recorded, buyer: Any) -> Iterable[PaymentFinding]:
    """Compare what remains of the sale with what remains of the payment; refunds correct a mismatch."""
    left_cents = payment.amount_cents - payment.returned_cents
    too_much_cents = sale.left_cents - left_cents
    if sale.currency != payment.currency and (sale.left_cents > 0 or left_cents > 0):
        yield _finding(Code.CURRENCY_MISMATCH, payment, sale, *_replacement(payment, sale, buyer))
    elif sale.currency == payment.currency and sale.amount_cents < payment.amount_cents and left_cents > 0:
        yield _finding(Code.AMOUNT_MISMATCH, payment, sale, *_replacement(payment, sale, buyer))
    elif sale.currency == payment.currency and too_much_cents > 0:
        code = Code.REFUND_MISSING if sale.amount_cents == payment.amount_cents else Code.AMOUNT_MISMATCH
        yield _finding(code, payment, sale, _refund(sale.transaction_id, sale.refunded_cents, too_much_cents))


def _unrecorded(payment: Payment, buyer: Any) -> Iterable[PaymentFinding]:
    """Report a payment that is not recorded, unless it was fully returned."""
    if payment.returned_cents >= payment.amount_cents:
        return
    bought = buyer.first_purchase_at is not None and buyer.first_purchase_at < payment.occurred_at
    is_settled = buyer.settlement != Settlement.PROVISIONAL
    code = Code.RENEWAL_NOT_REPORTED if bought else Code.MISSING
    lead = CorrectingCall("/api/v1/track/lead", {"click_id": buyer.click_id, "customer_key": payment.customer_key})
    if is_settled or payment.customer_key is not None:
        recorded = _record(payment, payment.names[0], buyer)
        yield _finding(code, payment, None, *([] if is_settled else [lead]), *recorded)
    else:
        reason = "The customer's lead is not settled, and the export has no customer key."
        yield _finding(code, payment, None, reason=reason)


def _doubled(payment: Payment, sale: Recorded) -> PaymentFinding:
    return _finding(Code.DOUBLED, payment, sale, _refund(sale.transaction_id, sale.refunded_cents, sale.left_cents))


def _finding(
    code: Code, paid: Payment, sale: Recorded | None, *calls: CorrectingCall, reason: str | None = None
) -> PaymentFinding:
    name = sale.transaction_id if sale else paid.names[0]
    of_payment = (paid.line, name, paid.amount_cents, paid.returned_cents, paid.currency)
    of_sale: tuple[Any, Any, Any] = (
        (sale.amount_cents, sale.refunded_cents, sale.currency) if sale else (None, None, None)
    )
    return PaymentFinding(code, *of_payment, *of_sale, calls, reason)


def _replacement(payment: Payment, sale: Recorded, buyer: Any) -> Iterable[CorrectingCall]:
    """Record the payment under a new id, then refund the wrong sale: in this order, an interruption loses nothing."""
    if payment.returned_cents < payment.amount_cents:
        yield from _record(payment, f"{sale.transaction_id}{CORRECTED}", buyer)
    if sale.left_cents:
        yield _refund(sale.transaction_id, sale.refunded_cents, sale.left_cents)


def _record(payment: Payment, transaction_id: str, buyer: Any) -> Iterable[CorrectingCall]:
    sale = {"transaction_id": transaction_id, "click_id": buyer.click_id, "amount_cents": payment.amount_cents}
    paid = {"currency": payment.currency, "occurred_at": payment.occurred_at}
    yield CorrectingCall("/api/v1/track/sale", sale | paid)
    if payment.returned_cents:
        yield _refund(transaction_id, 0, payment.returned_cents)


def _refund(transaction_id: str, refunded_cents: int, cents: int) -> CorrectingCall:
    """Return a refund whose id names the total refunded, so that the processor's own events do not repeat it."""
    total = f"payments:reconciled:{refunded_cents + cents}"
    named = {"transaction_id": transaction_id, "refund_amount_cents": cents, "refund_id": total}
    reason = {"refund_reason": "reconciled with the payment processor's export"}
    return CorrectingCall("/api/v1/track/refund", named | reason)
