"""What a sale or a lead earns its partner, under one version of a program's terms, and how people write the rates."""

from calendar import monthrange
from datetime import datetime
from enum import StrEnum
from fractions import Fraction
from typing import Any, NamedTuple

from storage.rules.money import half_even, share

MOST_CENTS = 10**9
Number = int | float


class CommissionType(StrEnum):
    """The unit of the rate: basis points of the sale, or cents per sale."""

    PERCENT = "percent"
    FLAT = "flat"


class CommissionBasis(StrEnum):
    """What the percentage is of: a sale's amount without its tax and shipping, or all of it."""

    BEFORE_TAX = "before_tax"
    TOTAL = "total"


class CommissionStatus(StrEnum):
    """The status of a commission, from pending to paid."""

    PENDING = "pending"
    APPROVED = "approved"
    REJECTED = "rejected"
    PAID = "paid"
    REVERSED = "reversed"


UNPAID = (CommissionStatus.PENDING, CommissionStatus.APPROVED)
MAY_BECOME = {
    CommissionStatus.PENDING: {CommissionStatus.APPROVED, CommissionStatus.REJECTED},
    CommissionStatus.APPROVED: {CommissionStatus.PAID, CommissionStatus.REJECTED},
    CommissionStatus.REJECTED: set[CommissionStatus](),
    CommissionStatus.PAID: set[CommissionStatus](),
    CommissionStatus.REVERSED: set[CommissionStatus](),
}


class TermsOf(StrEnum):
    """Whose terms they are; of those that apply to a partner, the most specific are in force."""

    PARTNER = "partner"
    GROUP = "group"
    PROGRAM = "program"


class Terms(NamedTuple):
    """One version of what a program pays: all of its partners, or the one with `partner_id`, or those of a `group`."""

    version: int
    type: CommissionType
    rate: int  # basis points when the type is percent, cents when it is flat
    lead_commission_cents: int
    recurring_months: int | None  # in which sales after the first one earn: None for life, 0 for the first sale only
    platform_fee_bps: int
    minimum_order_cents: int = 0  # a sale below it, as it was paid and before refunds, earns nothing
    basis: CommissionBasis = CommissionBasis.TOTAL
    partner_id: int | None = None
    group: str | None = None

    @property
    def whose(self) -> TermsOf:
        if self.partner_id is not None:
            return TermsOf.PARTNER
        return TermsOf.PROGRAM if self.group is None else TermsOf.GROUP

    def basis_cents(self, sale: Any, program_cents: int) -> int:
        """Return how much of a sale, which is worth `program_cents` in the program's currency, the percentage is of."""
        left_out_cents = sale.tax_cents + sale.shipping_cents if self.basis == CommissionBasis.BEFORE_TAX else 0
        if not left_out_cents:
            return program_cents
        return of_remaining(program_cents, sale_cents=sale.amount_cents, refunded_cents=left_out_cents)


def stored_terms(row: Any) -> Terms:
    """Return the terms of a row of commission_terms."""
    kind = CommissionType(row.commission_type)
    basis = CommissionBasis(row.commission_basis)
    later = (row.recurring_months, row.platform_fee_bps, row.minimum_order_cents)
    return Terms(row.version, kind, row.rate, row.lead_commission_cents, *later, basis)


def terms_of_text(text: str | None) -> Terms | None:
    """Return the terms that customer_lookup.sql writes as a text: their values in order, `-` for recurring for life."""
    if text is None:
        return None
    version, kind, rate, lead_cents, months, fee_bps, least_cents, basis = text.split()
    later = (None if months == "-" else int(months), int(fee_bps), int(least_cents), CommissionBasis(basis))
    return Terms(int(version), CommissionType(kind), int(rate), int(lead_cents), *later)


def explained_terms(row: Any) -> Terms:
    """Return the terms of a whole row of commission_terms, with whose they are."""
    return stored_terms(row)._replace(partner_id=row.partner_id, group=row.partner_group)


def on_sale(
    terms: Terms, sale_cents: int, basis_cents: int, *, first_purchase_at: datetime | None, occurred_at: datetime
) -> int:
    """Return the commission of a sale in cents; 0 for a small order, and when the recurring period is over."""
    if sale_cents < terms.minimum_order_cents or not earns(terms.recurring_months, first_purchase_at, occurred_at):
        return 0
    return share(basis_cents, terms.rate) if terms.type == CommissionType.PERCENT else terms.rate


def platform_fee(terms: Terms, commission_cents: int) -> int:
    """Return the platform's fee on a commission, in cents."""
    return share(commission_cents, terms.platform_fee_bps)


def of_remaining(commission_cents: int, *, sale_cents: int, refunded_cents: int) -> int:
    """Return what is left of a commission after refunds, rounded once: their order and sizes do not matter."""
    return commission_cents - half_even(Fraction(commission_cents * refunded_cents, sale_cents))


def earns(recurring_months: int | None, first_purchase_at: datetime | None, occurred_at: datetime) -> bool:
    """Return whether a sale is within the months in which a customer's sales earn; the first one always is."""
    if first_purchase_at is None or recurring_months is None:
        return True
    years, month = divmod(first_purchase_at.month - 1 + recurring_months, 12)
    year, month = first_purchase_at.year + years, month + 1
    day = min(first_purchase_at.day, monthrange(year, month)[1])
    return occurred_at < first_purchase_at.replace(year=year, month=month, day=day)


def shown_rate(kind: CommissionType, rate: int) -> Number:
    """Return a stored commission rate as people write it."""
    return percent(rate) if kind == CommissionType.PERCENT else rate


def percent(bps: int) -> Number:
    """Return basis points as a percentage, whole ones without a point."""
    return bps // 100 if bps % 100 == 0 else bps / 100
