"""Sales: a customer paid; the partner who sent them earns a commission."""

import hashlib
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection

from storage.access import program_keys
from storage.access.program_keys import ProgramKey
from storage.engine import ids
from storage.engine.group_commit import set_based
from storage.rules import attribution, commission, keys
from storage.rules.attribution import PartnerStatus
from storage.rules.errors import (
    AttributionWindowExpired,
    CustomerNotAttributed,
    CustomerNotFound,
    CustomerWrongProgram,
    DuplicateTransaction,
    ServiceError,
)
from storage.rules.settlement import CustomerStatus
from storage.tables.columns import to_millis
from storage.tracking import currencies, customers, ledger, possible_duplicates, program_terms, rollups, transaction_ids
from storage.tracking.customers import Customer, CustomerQuery, Registry
from storage.tracking.possible_duplicates import ReportedSale
from storage.tracking.program_terms import ProgramTerms
from storage.tracking.transaction_ids import Claim


class Sale(NamedTuple):
    """A sale as a call sent it. `amount_cents` is in minor units of `currency`; `details` is JSON text."""

    key_hash: str
    transaction_id: str
    amount_cents: int
    at: datetime
    customer_key: str | None = None
    click_id: str | None = None
    currency: str = "USD"
    occurred_at: datetime | None = None
    details: str | None = None

    @property
    def happened_at(self) -> datetime:
        """When the customer paid: as told, else when the call came."""
        return self.occurred_at or self.at


class SaleResult(NamedTuple):
    """A recorded sale; the commission is in cents of the program's `currency`, None and 0 when none is earned."""

    event_id: int
    key: ProgramKey
    customer_key: str | None
    commission_id: int | None
    commission_cents: int
    currency: str


class _Candidate(NamedTuple):
    """A sale that may be recorded if its transaction_id is new."""

    n: int
    sale: Sale
    key: ProgramKey
    customer: Customer
    program: ProgramTerms
    program_cents: int
    sale_id: int


@set_based
def record(connection: Connection, batch: Sequence[Sale]) -> list[SaleResult | ServiceError]:
    """Record a batch of sales; each result is a Sold or the refusal.

    Refusals: InvalidKey, ApiKeyRotationRequired, CustomerNotFound, CustomerWrongProgram, CustomerNotAttributed,
    AttributionWindowExpired, CurrencyNotSupported, DuplicateTransaction.
    """
    at = max(sale.at for sale in batch)
    presented = program_keys.identify(connection, [sale.key_hash for sale in batch], at=at)
    owned = [key.program_id if isinstance(key := presented[sale.key_hash], ProgramKey) else None for sale in batch]
    known = program_terms.in_force(connection, [program_id for program_id in owned if program_id])
    wanted = [_wanted(sale, program_id) for sale, program_id in zip(batch, owned, strict=True)]
    registry = Registry(connection, wanted, at=at)
    results: list[SaleResult | ServiceError] = []
    candidates: list[_Candidate] = []
    for n, (sale, sale_id) in enumerate(zip(batch, ids.after(at, len(batch)), strict=True)):
        try:
            key = program_keys.working(presented[sale.key_hash])
            program = known[key.program_id]
            customer = _customer(sale, program, registry)
            _require_no_twin(connection, sale, program, customer)
            candidates.append(_Candidate(n, sale, key, customer, program, _price(connection, sale, program), sale_id))
            results.append(CustomerNotFound())  # replaced below, once the database has decided
        except ServiceError as refusal:
            results.append(refusal)
    if candidates:
        _store(connection, candidates, results, at=at)
    return results


def _wanted(sale: Sale, program_id: int | None) -> CustomerQuery:
    return CustomerQuery(program_id, sale.customer_key, keys.click_program(sale.click_id or ""), sale.click_id)


def _customer(sale: Sale, program: ProgramTerms, registry: Registry) -> Customer:
    """Return whom the customer_key names, else whom the click became or becomes with this sale."""
    click_program_id = keys.click_program(sale.click_id or "")
    clicked = registry.by_click(click_program_id, sale.click_id)
    customer = registry.by_key(program.id, sale.customer_key) or clicked
    if customer is None:
        raise CustomerNotFound
    if customer.program_id != program.id:
        raise CustomerWrongProgram
    if customer.partner_status == PartnerStatus.INACTIVE:
        raise CustomerNotAttributed
    first = customer.first_purchase_at is None
    window_days = program.attribution_window_days
    if first and not attribution.is_within(customer.clicked_at, sale.happened_at, window_days):
        raise AttributionWindowExpired
    return customer


def _require_no_twin(connection: Connection, sale: Sale, program: ProgramTerms, customer: Customer) -> None:
    """Raise DuplicateTransaction for what the program's connected payment account is likely to have told already."""
    if not program.has_payments or customer.first_purchase_at is None or program_keys.is_trusted(sale.key_hash):
        return
    told = ReportedSale(sale.transaction_id, customer.id, sale.amount_cents, sale.currency, sale.happened_at)
    twin = possible_duplicates.of_payments(connection, program.id, told)
    if twin is not None and twin.transaction_id != sale.transaction_id:
        raise DuplicateTransaction(
            f"The connected payment account reported what is likely this sale, as {twin.transaction_id}.",
            hint="Report each sale from one place. Nothing was recorded for this call.",
            existing={"eventId": twin.id, "recorded_at": twin.at},
            same_payload=False,
        )


def _price(connection: Connection, sale: Sale, program: ProgramTerms) -> int:
    """Return the sale's amount in cents of the program's currency."""
    day = sale.happened_at.date()
    return currencies.convert(connection, sale.amount_cents, source=sale.currency, target=program.currency, day=day)


def _store(
    connection: Connection, candidates: Sequence[_Candidate], results: list[SaleResult | ServiceError], *, at: datetime
) -> None:
    """Insert the sales; the unique key (program_id, transaction_id) decides which of them are new."""
    refusals = transaction_ids.claim(connection, [_row(item) for item in candidates])
    earned, steps, converted = [], [], {}
    for item in candidates:
        if refusal := refusals.get(item.sale_id):
            results[item.n] = refusal
        else:
            cents = _commission(item)
            earned.append(
                ledger.earn(item.program, item.customer, cents, sale_id=item.sale_id, at=item.sale.happened_at)
            )
            steps.append(_step(item, cents))
            results[item.n] = _sold(item, cents)
            if _convert(item):
                converted[item.customer.id] = item.customer
    customers.save(connection, converted.values())
    ledger.append(connection, earned, at=at)
    rollups.add(connection, steps)


def _commission(item: _Candidate) -> int:
    first_purchase_at = item.customer.first_purchase_at
    return commission.on_sale(
        item.program.terms,
        item.program_cents,
        first_purchase_at=first_purchase_at,
        occurred_at=item.sale.happened_at,
    )


def _step(item: _Candidate, commission_cents: int) -> rollups.Increment:
    return rollups.Increment(
        item.program.id,
        item.customer.partner_id,
        rollups.day_of(item.sale.happened_at),
        conversions=int(item.customer.first_purchase_at is None),
        sales=1,
        revenue_cents=item.program_cents,
        commission_cents=commission_cents,
    )


def _convert(item: _Candidate) -> bool:
    """Make the customer a conversion at their first sale; say whether this was it."""
    first = item.customer.first_purchase_at is None
    if first:
        item.customer.first_purchase_at = item.sale.happened_at
        item.customer.status = CustomerStatus.CONVERSION
    return first


def _sold(item: _Candidate, commission_cents: int) -> SaleResult:
    commission_id = item.sale_id if commission_cents else None
    named = item.customer.customer_key or item.sale.customer_key
    return SaleResult(item.sale_id, item.key, named, commission_id, commission_cents, item.program.currency)


def _row(item: _Candidate) -> Claim:
    sale = item.sale
    return Claim(
        program_id=item.program.id,
        id=item.sale_id,
        transaction_id=sale.transaction_id,
        customer_id=item.customer.id,
        partner_id=item.customer.partner_id,
        amount_cents=sale.amount_cents,
        currency=sale.currency,
        program_cents=item.program_cents,
        details=sale.details,
        customer_key=sale.customer_key,
        payload_hash=_fingerprint(sale),
        occurred_at=to_millis(sale.happened_at),
        at=to_millis(sale.at),
    )


def _fingerprint(sale: Sale) -> str:
    """Return a hash of what the integrator sent: equal for a repeat of the same call, whenever it comes."""
    return hashlib.sha256(repr(sale._replace(key_hash="", at=datetime.min)).encode()).hexdigest()  # noqa: DTZ901 - only a constant
