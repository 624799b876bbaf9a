"""Buyers: the customer whom a sale names, by click and by customer_key."""

from datetime import datetime
from typing import NamedTuple

from storage.rules import attribution, keys
from storage.rules.attribution import PartnerStatus
from storage.rules.errors import (
    AttributionWindowExpired,
    CustomerNotAttributed,
    CustomerNotFound,
    CustomerWrongProgram,
    IdentifierConflict,
    SaleBeforeClick,
)
from storage.tracking.customers import Customer, Registry
from storage.tracking.program_terms import ProgramTerms


class SaleBuyer(NamedTuple):
    """The customer, who may be new, and the one from whom the sale takes the customer_key.

    `conflicts` if the click is of one customer and the customer_key of another.
    """

    customer: Customer
    claimant: Customer | None = None
    conflicts: bool = False


def find(program: ProgramTerms, click_id: str | None, customer_key: str | None, registry: Registry) -> SaleBuyer | None:
    """Return the customer with the customer_key, else the one created from the click.

    A sale outranks what a browser alone claimed for the customer_key, as a lead with the program key does.
    """
    clicked = registry.by_click(keys.click_program(click_id or ""), click_id)
    holder = registry.by_key(program.id, customer_key)
    if clicked is None or holder is None or clicked is holder:
        known = holder or clicked
        buyer = SaleBuyer(known) if known else None
    elif clicked.program_id != program.id:
        buyer = SaleBuyer(holder)
    elif holder.is_claimed and clicked.customer_key is None:
        buyer = SaleBuyer(clicked, claimant=holder)
    else:
        buyer = SaleBuyer(holder, conflicts=not clicked.is_unnamed)
    return buyer


def require(buyer: SaleBuyer | None, program: ProgramTerms, happened_at: datetime, *, is_backfilled: bool) -> SaleBuyer:
    """Return the buyer. Raises the errors of a sale whose customer cannot be credited to a partner."""
    if buyer is None:
        raise CustomerNotFound
    customer = buyer.customer
    if customer.program_id != program.id:
        raise CustomerWrongProgram
    if buyer.conflicts:
        raise IdentifierConflict
    if customer.partner_status == PartnerStatus.INACTIVE:
        raise CustomerNotAttributed
    if is_backfilled and attribution.is_before(customer.clicked_at, happened_at):
        raise SaleBeforeClick
    first = customer.first_purchase_at is None
    if first and not attribution.is_within(customer.clicked_at, happened_at, program.attribution_window_days):
        raise AttributionWindowExpired
    return buyer
