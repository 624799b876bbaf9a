"""What a sale changes: whose it is, whether it repeats another, and what it earns."""

from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from storage.rules import attribution, commission, errors
from storage.rules.settlement import CustomerStatus
from storage.tracking.currencies import Exchange, Rates
from storage.tracking.customers import Customer, NamedCustomers
from storage.tracking.outranking import Outranked
from storage.tracking.program_terms import ProgramTerms

ADVICE = "If it is the same sale, do nothing, or refund what is too much. Another purchase has its own transaction_id."
SPENT = "The referral token was used. Later purchases need the customer_key that came with the first one."


class Provenance(StrEnum):
    """Who reported a sale: the integrator's server, a connected payment account, or the operator."""

    API = "api"
    PROCESSOR = "processor"
    OPERATOR = "operator"


class Sale(NamedTuple):
    transaction_id: str
    amount_cents: int  # minor units of `currency`
    at: datetime
    customer_key: str | None = None
    click_id: str | None = None
    currency: str = "USD"
    occurred_at: datetime | None = None
    tax_cents: int = 0  # of `amount_cents`, as is the shipping
    shipping_cents: int = 0
    coupon_code: str | None = None
    details: str | None = None  # JSON text
    provenance: Provenance = Provenance.API
    caller: str | None = None  # who called with the key

    @property
    def happened_at(self) -> datetime:
        """When the customer paid: the reported time, else the time of the call."""
        return self.occurred_at or self.at


class SaleResult(NamedTuple):
    """A recorded sale; the commission is in cents of the program's `currency`, None and 0 when none is earned."""

    event_id: int
    program_id: int
    customer_key: str | None
    commission_id: int | None
    commission_cents: int
    currency: str
    customer_key_saved: bool  # whether the customer carries it: a sale alone does not save it
    possibly_repeats: str | None = None  # the transaction_id of a sale by the payment account: the commission is held
    coupon_unknown: bool = False  # no coupon in force has the sale's code


class RecordedSale(NamedTuple):
    """A sale that is stored, or accepted earlier in the batch."""

    transaction_id: str
    id: int
    at: datetime
    customer_id: int
    amount_cents: int
    currency: str


RepeatedSales = tuple[RecordedSale | None, RecordedSale | None]  # with the same id, and likely to be the same


class SaleBuyer(NamedTuple):
    customer: Customer  # whom a sale names, and who may be new
    claimant: Customer | None = None  # from whom it takes the customer_key
    conflicts: bool = False  # the click is of one customer, and the customer_key of another


class SaleChange(NamedTuple):
    id: int  # of the sale
    sale: Sale
    program: ProgramTerms
    customer: Customer  # as they are afterwards
    outranked: Outranked | None
    program_cents: int  # in the program's currency, as is the commission
    commission_cents: int
    is_first: bool  # the customer's first purchase
    changed: list[Customer]  # the new values of all customers that it changes
    likely: RecordedSale | None  # a sale by the payment account that it may repeat

    @property
    def recorded(self) -> RecordedSale:
        """The sale, as later ones of the batch find it."""
        sale = self.sale
        return RecordedSale(sale.transaction_id, self.id, sale.at, self.customer.id, sale.amount_cents, sale.currency)


def buyer_of(sale: Sale, program: ProgramTerms, named: NamedCustomers) -> SaleBuyer | None:
    """Return the customer with the customer_key (`holder`), else the one created from the click."""
    clicked, holder = named
    if clicked is None or holder is None or clicked.id == holder.id:
        known = holder or clicked
        buyer = SaleBuyer(known) if known else None
    elif clicked.program_id != program.id:
        buyer = SaleBuyer(holder)
    elif sale.provenance == Provenance.PROCESSOR:
        buyer = SaleBuyer(clicked)
    elif holder.is_claimed and clicked.customer_key is None:  # the key outranks what a browser alone claimed
        buyer = SaleBuyer(clicked, claimant=holder)
    else:
        buyer = SaleBuyer(holder, conflicts=not clicked.is_unnamed)
    return buyer


def decide(
    sale_id: int, sale: Sale, program: ProgramTerms, *, named: NamedCustomers, repeats: RepeatedSales, rates: Rates
) -> SaleChange:
    """Return what a sale changes, given the customers that it names and the recorded sales that it repeats, or may."""
    buyer, (same, likely) = buyer_of(sale, program, named), repeats
    if same is not None:
        raise _duplicate(sale, buyer, same)
    before, claimant, _ = _required(buyer, sale, program)
    program = program.for_partner(before.partner_id, before.partner_terms)
    cents = rates.convert(sale.amount_cents, exchange(sale, program))
    first_purchase_at = before.first_purchase_at
    basis_cents = program.terms.basis_cents(sale, cents)
    earned_cents = commission.on_sale(
        program.terms, cents, basis_cents, first_purchase_at=first_purchase_at, occurred_at=sale.happened_at
    )
    after = before._replace(customer_key=claimant.customer_key, confirmed=True) if claimant else before
    if named[1] is None and sale.customer_key is not None:
        after = after._replace(known_as=sale.customer_key)
    is_first = first_purchase_at is None
    if is_first:
        after = after._replace(first_purchase_at=sale.happened_at, status=CustomerStatus.CONVERSION)
    outranked = Outranked(claimant, after) if claimant else None
    changed = [outranked.loser, after] if outranked else [after] if after is not before else []
    return SaleChange(sale_id, sale, program, after, outranked, cents, earned_cents, is_first, changed, likely)


def _duplicate(sale: Sale, buyer: SaleBuyer | None, same: RecordedSale) -> errors.DuplicateTransaction:
    """Return the error of a repeated transaction_id, which names what differs from the recorded sale."""
    said = {
        "customer": (buyer and buyer.customer.id, same.customer_id),
        "amount_cents": (sale.amount_cents, same.amount_cents),
        "currency": (sale.currency, same.currency),
    }
    differing = [name for name, (sent, stored) in said.items() if sent != stored]
    existing = {"eventId": same.id, "recorded_at": same.at}
    hint = f"The recorded sale has another {' and '.join(differing)}. {ADVICE}" if differing else None
    return errors.DuplicateTransaction(hint=hint, existing=existing, same_payload=not differing)


def exchange(sale: Sale, program: ProgramTerms) -> Exchange:
    """Return the conversion of a sale's amount."""
    return Exchange(sale.currency, program.currency, sale.happened_at.date())


def _required(buyer: SaleBuyer | None, sale: Sale, program: ProgramTerms) -> SaleBuyer:
    """Return the buyer. Raises the errors of a sale that no partner can be credited with."""
    if buyer is None:
        raise errors.CustomerNotFound
    customer = buyer.customer
    if customer.program_id != program.id:
        raise errors.CustomerWrongProgram
    if buyer.conflicts or customer.has_other_key(sale.customer_key):
        raise errors.IdentifierConflict
    if sale.provenance == Provenance.API and customer.is_spent(sale.customer_key):
        raise errors.IdentifierConflict(SPENT)
    if customer.partner_status == attribution.PartnerStatus.INACTIVE:
        raise errors.CustomerNotAttributed
    is_reported = sale.occurred_at is not None and sale.provenance != Provenance.OPERATOR
    if is_reported and attribution.is_before(customer.clicked_at, sale.happened_at):
        raise errors.SaleBeforeClick
    first = customer.first_purchase_at is None
    if first and not customer.is_in_time(sale.happened_at, program.attribution_window_days):
        raise errors.AttributionWindowExpired
    return buyer
