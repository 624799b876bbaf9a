"""Whether what a processor was paid is what is recorded: a customer's payments, their sales, and what mends them."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import NamedTuple

WITHIN = timedelta(minutes=10)  # two reports this close may be one payment
CORRECTED = ":corrected"


class Code(StrEnum):
    """What may be wrong about a payment."""

    MISSING = "missing"
    RENEWAL_NOT_REPORTED = "renewal_not_reported"
    DOUBLED = "doubled"
    AMOUNT_MISMATCH = "amount_mismatch"
    CURRENCY_MISMATCH = "currency_mismatch"
    REFUND_MISSING = "refund_missing"


class Payment(NamedTuple):
    """A payment as the processor exports it, in minor units; `names` are its ids, a sale's transaction_id first."""

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
    """A recorded sale with every name that it is known by; `by_processor`: the connected account told it."""

    transaction_id: str
    amount_cents: int
    refunded_cents: int
    currency: str
    occurred_at: datetime
    names: frozenset[str]
    by_processor: bool

    @property
    def stands(self) -> bool:
        """Whether anything of it is left."""
        return self.refunded_cents < self.amount_cents

    def is_alike(self, payment: Payment) -> bool:
        """Whether this may be the payment, told under a name of the shop's own."""
        same = (self.amount_cents, self.currency) == (payment.amount_cents, payment.currency)
        return same and abs(self.occurred_at - payment.occurred_at) <= WITHIN

    def is_the_very(self, payment: Payment) -> tuple[bool, bool, bool]:
        """Return how well this fits a payment that it shares a name with: more is better."""
        return (self.stands, self.currency == payment.currency, self.amount_cents == payment.amount_cents)


class Buyer(NamedTuple):
    """The customer who paid; `settled` is False while their lead is provisional."""

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
    """A correction: refund this much of a sale; applied twice under its `refund_id`, it changes nothing more."""

    transaction_id: str
    amount_cents: int
    refund_id: str


Correction = SettleLead | RecordSale | RefundSale


class Finding(NamedTuple):
    """What is wrong about a payment; without `corrections` the `reason` says why there is none."""

    code: Code
    payment: Payment
    recorded: Recorded | None
    corrections: tuple[Correction, ...]
    reason: str | None = None


def judge(payments: Sequence[Payment], recorded: Sequence[Recorded], buyer: Buyer) -> list[Finding]:
    """Return what is wrong about one customer's payments, given their recorded sales."""
    named = {
        payment.line: [sale for sale in recorded if sale.names.intersection(payment.names)] for payment in payments
    }
    known = {sale.transaction_id for sales in named.values() for sale in sales}
    free = [sale for sale in recorded if sale.transaction_id not in known and sale.stands and not sale.by_processor]
    findings: list[Finding] = []
    for payment in payments:
        fitting = sorted(named[payment.line], key=lambda sale: sale.is_the_very(payment), reverse=True)
        best = fitting[0] if fitting else _take(free, payment)
        findings += [_doubled(payment, sale) for sale in fitting[1:] if sale.stands]
        findings += _compared(payment, best, buyer) if best else _unrecorded(payment, buyer)
    for payment in payments:
        while (duplicate := _take(free, payment)) is not None:
            findings.append(_doubled(payment, duplicate))
    return findings


def _take(free: list[Recorded], payment: Payment) -> Recorded | None:
    """Take the first sale that may be the payment and that no other payment is."""
    alike = next((sale for sale in free if sale.is_alike(payment)), None)
    if alike is not None:
        free.remove(alike)
    return alike


def _compared(payment: Payment, sale: Recorded, buyer: Buyer) -> Iterable[Finding]:
    """Compare what is left of the sale with what is left of the payment: what was refunded is no mismatch any more."""
    left_cents = payment.amount_cents - payment.returned_cents
    too_much_cents = sale.amount_cents - sale.refunded_cents - left_cents
    if sale.currency != payment.currency and (sale.stands or left_cents > 0):
        yield Finding(Code.CURRENCY_MISMATCH, payment, sale, _anew(payment, sale, buyer))
    elif sale.currency == payment.currency and sale.amount_cents < payment.amount_cents and left_cents > 0:
        yield Finding(Code.AMOUNT_MISMATCH, payment, sale, _anew(payment, sale, buyer))
    elif sale.currency == payment.currency and too_much_cents > 0:
        code = Code.REFUND_MISSING if sale.amount_cents == payment.amount_cents else Code.AMOUNT_MISMATCH
        yield Finding(code, payment, sale, (_refund(sale.transaction_id, sale.refunded_cents, too_much_cents),))


def _unrecorded(payment: Payment, buyer: Buyer) -> Iterable[Finding]:
    """Say that a payment of which something is left is not recorded."""
    if payment.returned_cents >= payment.amount_cents:
        return
    bought = buyer.bought_at is not None and buyer.bought_at < payment.occurred_at
    code = Code.RENEWAL_NOT_REPORTED if bought else Code.MISSING
    if buyer.settled:
        yield Finding(code, payment, None, tuple(_sold(payment, payment.names[0], buyer)))
    elif payment.customer_key is not None:
        lead = SettleLead(buyer.click_id, payment.customer_key)
        yield Finding(code, payment, None, (lead, *_sold(payment, payment.names[0], buyer)))
    else:
        yield Finding(
            code, payment, None, (), "The customer's lead is not settled, and the export has no customer key."
        )


def _doubled(payment: Payment, sale: Recorded) -> Finding:
    left_cents = sale.amount_cents - sale.refunded_cents
    return Finding(Code.DOUBLED, payment, sale, (_refund(sale.transaction_id, sale.refunded_cents, left_cents),))


def _anew(payment: Payment, sale: Recorded, buyer: Buyer) -> tuple[Correction, ...]:
    """Record a wrong sale as it was paid, under a new name, then refund it: an interrupted run loses nothing."""
    left_cents = sale.amount_cents - sale.refunded_cents
    undone = [_refund(sale.transaction_id, sale.refunded_cents, left_cents)] if left_cents else []
    anew = (
        _sold(payment, f"{sale.transaction_id}{CORRECTED}", buyer)
        if payment.returned_cents < payment.amount_cents
        else ()
    )
    return (*anew, *undone)


def _sold(payment: Payment, transaction_id: str, buyer: Buyer) -> Iterable[Correction]:
    yield RecordSale(transaction_id, buyer.click_id, payment.amount_cents, payment.currency, payment.occurred_at)
    if payment.returned_cents:
        yield _refund(transaction_id, 0, payment.returned_cents)


def _refund(transaction_id: str, refunded_cents: int, cents: int) -> RefundSale:
    """Return a refund named for the total that it leads to, which the processor's own events count as theirs."""
    return RefundSale(transaction_id, cents, f"payments:reconciled:{refunded_cents + cents}")
