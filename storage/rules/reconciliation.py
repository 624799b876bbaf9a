"""Reconciliation: compares a customer's payments with the recorded sales, and proposes corrections."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import NamedTuple

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
    """A recorded sale with all its ids; `by_processor` if the connected payment account reported it.

    `is_separate` if a person decided that it is no duplicate of a payment.
    """

    transaction_id: str
    amount_cents: int
    refunded_cents: int
    currency: str
    occurred_at: datetime
    names: frozenset[str]
    by_processor: bool
    is_separate: bool = False

    @property
    def has_remainder(self) -> bool:
        """Whether it is not fully refunded."""
        return self.refunded_cents < self.amount_cents

    def may_be(self, payment: Payment) -> bool:
        """Return whether this may be the payment, reported under an id of the shop."""
        same = (self.amount_cents, self.currency) == (payment.amount_cents, payment.currency)
        return same and abs(self.occurred_at - payment.occurred_at) <= WITHIN

    def match_quality(self, payment: Payment) -> tuple[bool, bool, bool]:
        """Return how well this matches a payment with one of its ids; higher is better."""
        return (self.has_remainder, self.currency == payment.currency, self.amount_cents == payment.amount_cents)


class Buyer(NamedTuple):
    """The customer who paid; `settled` is False if their lead is provisional."""

    click_id: str
    customer_key: str | None
    settled: bool
    bought_at: datetime | None


class SettleLead(NamedTuple):
    """A correction: settle the provisional lead of this click."""

    click_id: str
    customer_key: str


class RecordSale(NamedTuple):
    """A correction: record this sale; `amount_cents` is in minor units of `currency`."""

    transaction_id: str
    click_id: str
    amount_cents: int
    currency: str
    occurred_at: datetime


class RefundSale(NamedTuple):
    """A correction: refund this much of a sale; a repeat with the same `refund_id` changes nothing."""

    transaction_id: str
    refund_amount_cents: int
    refund_id: str


Correction = SettleLead | RecordSale | RefundSale


class PaymentFinding(NamedTuple):
    """What is wrong about a payment; if `corrections` is empty, `reason` says why."""

    code: Code
    payment: Payment
    recorded: Recorded | None
    corrections: tuple[Correction, ...]
    reason: str | None = None


def judge(payments: Sequence[Payment], recorded: Sequence[Recorded], buyer: Buyer) -> list[PaymentFinding]:
    """Return what is wrong about one customer's payments, given their recorded sales."""
    named = {
        payment.line: [sale for sale in recorded if sale.names.intersection(payment.names)] for payment in payments
    }
    known = {sale.transaction_id for sales in named.values() for sale in sales}
    free = [
        sale for sale in recorded if sale.transaction_id not in known and sale.has_remainder and not sale.by_processor
    ]
    findings: list[PaymentFinding] = []
    for payment in payments:
        fitting = sorted(named[payment.line], key=lambda sale: sale.match_quality(payment), reverse=True)
        best = fitting[0] if fitting else _take(free, payment)
        findings += [_doubled(payment, sale) for sale in fitting[1:] if sale.has_remainder]
        findings += _compared(payment, best, buyer) if best else _unrecorded(payment, buyer)
    free = [sale for sale in free if not sale.is_separate]
    for payment in payments:
        while (duplicate := _take(free, payment)) is not None:
            findings.append(_doubled(payment, duplicate))
    return findings


def _take(free: list[Recorded], payment: Payment) -> Recorded | None:
    """Take the first sale that may be the payment and that matches no other payment."""
    alike = next((sale for sale in free if sale.may_be(payment)), None)
    if alike is not None:
        free.remove(alike)
    return alike


def _compared(payment: Payment, sale: Recorded, buyer: Buyer) -> Iterable[PaymentFinding]:
    """Compare what remains of the sale with what remains of the payment; refunds correct a mismatch."""
    left_cents = payment.amount_cents - payment.returned_cents
    too_much_cents = sale.amount_cents - sale.refunded_cents - left_cents
    if sale.currency != payment.currency and (sale.has_remainder or left_cents > 0):
        yield PaymentFinding(Code.CURRENCY_MISMATCH, payment, sale, _replacement(payment, sale, buyer))
    elif sale.currency == payment.currency and sale.amount_cents < payment.amount_cents and left_cents > 0:
        yield PaymentFinding(Code.AMOUNT_MISMATCH, payment, sale, _replacement(payment, sale, buyer))
    elif sale.currency == payment.currency and too_much_cents > 0:
        code = Code.REFUND_MISSING if sale.amount_cents == payment.amount_cents else Code.AMOUNT_MISMATCH
        yield PaymentFinding(code, payment, sale, (_refund(sale.transaction_id, sale.refunded_cents, too_much_cents),))


def _unrecorded(payment: Payment, buyer: Buyer) -> Iterable[PaymentFinding]:
    """Report a payment that is not recorded, unless it was fully returned."""
    if payment.returned_cents >= payment.amount_cents:
        return
    bought = buyer.bought_at is not None and buyer.bought_at < payment.occurred_at
    code = Code.RENEWAL_NOT_REPORTED if bought else Code.MISSING
    if buyer.settled:
        yield PaymentFinding(code, payment, None, tuple(_record(payment, payment.names[0], buyer)))
    elif payment.customer_key is not None:
        lead = SettleLead(buyer.click_id, payment.customer_key)
        yield PaymentFinding(code, payment, None, (lead, *_record(payment, payment.names[0], buyer)))
    else:
        yield PaymentFinding(
            code, payment, None, (), "The customer's lead is not settled, and the export has no customer key."
        )


def _doubled(payment: Payment, sale: Recorded) -> PaymentFinding:
    left_cents = sale.amount_cents - sale.refunded_cents
    return PaymentFinding(Code.DOUBLED, payment, sale, (_refund(sale.transaction_id, sale.refunded_cents, left_cents),))


def _replacement(payment: Payment, sale: Recorded, buyer: Buyer) -> tuple[Correction, ...]:
    """Record the payment under a new id, then refund the wrong sale: in this order, an interruption loses nothing."""
    left_cents = sale.amount_cents - sale.refunded_cents
    undone = [_refund(sale.transaction_id, sale.refunded_cents, left_cents)] if left_cents else []
    replacement = (
        _record(payment, f"{sale.transaction_id}{CORRECTED}", buyer)
        if payment.returned_cents < payment.amount_cents
        else ()
    )
    return (*replacement, *undone)


def _record(payment: Payment, transaction_id: str, buyer: Buyer) -> Iterable[Correction]:
    yield RecordSale(transaction_id, buyer.click_id, payment.amount_cents, payment.currency, payment.occurred_at)
    if payment.returned_cents:
        yield _refund(transaction_id, 0, payment.returned_cents)


def _refund(transaction_id: str, refunded_cents: int, cents: int) -> RefundSale:
    """Return a refund whose id names the total refunded, so that the processor's own events do not repeat it."""
    return RefundSale(transaction_id, cents, f"payments:reconciled:{refunded_cents + cents}")
