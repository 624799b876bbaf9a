"""What a sale or a lead earns its partner, under one version of a program's terms."""

from datetime import datetime
from enum import StrEnum
from fractions import Fraction
from typing import NamedTuple

from storage.rules.money import half_even, share


class CommissionType(StrEnum):
    """The unit of the rate: basis points of the sale, or cents per sale."""

    PERCENT = "percent"
    FLAT = "flat"


class CommissionStatus(StrEnum):
    """The status of a commission, from pending to paid."""

    PENDING = "pending"
    APPROVED = "approved"
    REJECTED = "rejected"
    PAID = "paid"
    REVERSED = "reversed"


MAY_BECOME = {
    CommissionStatus.PENDING: {CommissionStatus.APPROVED, CommissionStatus.REJECTED},
    CommissionStatus.APPROVED: {CommissionStatus.PAID, CommissionStatus.REJECTED},
    CommissionStatus.REJECTED: set[CommissionStatus](),
    CommissionStatus.PAID: set[CommissionStatus](),
    CommissionStatus.REVERSED: set[CommissionStatus](),
}


class Terms(NamedTuple):
    """One version of what a program pays.

    `rate` is basis points when `type` is percent, cents when it is flat. `recurring_months` is how long
    after the first sale later sales still earn: None for life, 0 for the first sale only. A sale below
    `minimum_order_cents`, as it was paid and before refunds, earns nothing.
    """

    version: int
    type: CommissionType
    rate: int
    lead_commission_cents: int
    recurring_months: int | None
    platform_fee_bps: int
    minimum_order_cents: int = 0


def on_sale(terms: Terms, sale_cents: int, *, first_purchase_at: datetime | None, occurred_at: datetime) -> int:
    """Return the commission of a sale in cents; 0 for a small order, and when the recurring period is over."""
    if sale_cents < terms.minimum_order_cents or not earns(terms.recurring_months, first_purchase_at, occurred_at):
        cents = 0
    elif terms.type == CommissionType.PERCENT:
        cents = share(sale_cents, terms.rate)
    else:
        cents = terms.rate
    return cents


def platform_fee(terms: Terms, commission_cents: int) -> int:
    """Return the platform's fee on a commission, in cents."""
    return share(commission_cents, terms.platform_fee_bps)


def of_remaining(commission_cents: int, *, sale_cents: int, refunded_cents: int) -> int:
    """Return what is left of a commission after `refunded_cents` of its sale were refunded.

    The proportion is exact and rounded once, so the order and size of partial refunds do not change the result.
    """
    return commission_cents - half_even(Fraction(commission_cents * refunded_cents, sale_cents))


def earns(recurring_months: int | None, first_purchase_at: datetime | None, occurred_at: datetime) -> bool:
    """Return whether a sale is within the months in which a customer's sales earn; the first one always is."""
    if first_purchase_at is None or recurring_months is None:
        return True
    return occurred_at < _months_later(first_purchase_at, recurring_months)


def _months_later(start: datetime, months: int) -> datetime:
    years, month = divmod(start.month - 1 + months, 12)
    year = start.year + years
    for day in (start.day, 30, 29, 28):
        try:
            return start.replace(year=year, month=month + 1, day=day)
        except ValueError:
            continue
    return start  # pragma: no cover - every month has a 28th
