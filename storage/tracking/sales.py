"""Sales: a customer pays, and the partner who sent them earns a commission."""

import hashlib
import json
from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple

from sqlalchemy import Connection

from storage.engine import ids
from storage.engine.group_commit import set_based
from storage.engine.statements import Statement
from storage.rules import commission, keys
from storage.rules.errors import DuplicateTransaction, ServiceError
from storage.rules.settlement import CustomerStatus
from storage.tables.columns import to_millis
from storage.tracking import buyers, customers, ledger, outranking, rollups
from storage.tracking.buyers import SaleBuyer
from storage.tracking.currencies import Exchange, Rates
from storage.tracking.customers import Customer, CustomerQuery, Registry
from storage.tracking.outranking import Outranked
from storage.tracking.program_terms import ProgramTerms
from storage.tracking.recorded_sales import RecordedSale, RecordedSales, SaleQuery

_insert = Statement("sale_insert")


class Provenance(StrEnum):
    """Who reported a sale: the integrator's server, a connected payment account, or the operator."""

    API = "api"
    PROCESSOR = "processor"
    OPERATOR = "operator"


class Sale(NamedTuple):
    """A sale as it was reported. `amount_cents` is in minor units of `currency`; `details` is JSON text."""

    transaction_id: str
    amount_cents: int
    at: datetime
    customer_key: str | None = None
    click_id: str | None = None
    currency: str = "USD"
    occurred_at: datetime | None = None
    details: str | None = None
    provenance: Provenance = Provenance.API

    @property
    def happened_at(self) -> datetime:
        """When the customer paid: the reported time, else the time of the call."""
        return self.occurred_at or self.at

    @property
    def payload_hash(self) -> str:
        """A hash of the report, equal for every repeat of the same call."""
        sent = (self.transaction_id, self.amount_cents, self.customer_key, self.click_id, self.currency, self.details)
        return hashlib.sha256(
            json.dumps([*sent, self.occurred_at and to_millis(self.occurred_at)]).encode()
        ).hexdigest()


class SaleResult(NamedTuple):
    """A recorded sale; the commission is in cents of the program's `currency`, None and 0 when none is earned.

    `customer_key_saved` says whether the customer carries `customer_key`: a sale alone does not save it.
    """

    event_id: int
    program_id: int
    customer_key: str | None
    commission_id: int | None
    commission_cents: int
    currency: str
    customer_key_saved: bool


class _AcceptedSale(NamedTuple):
    """A sale to store; `is_first` says that it is the customer's first purchase.

    `claimant` is the customer from whom the sale takes the customer_key.
    """

    sale_id: int
    sale: Sale
    program: ProgramTerms
    customer: Customer
    claimant: Customer | None
    program_cents: int
    commission_cents: int
    is_first: bool
    payload_hash: str


@set_based
def record(connection: Connection, batch: Sequence[tuple[ProgramTerms, Sale]]) -> list[SaleResult | ServiceError]:
    """Record a batch of sales; each result is a SaleResult or the error.

    Errors: DuplicateTransaction, CustomerNotFound, CustomerWrongProgram, CustomerNotAttributed,
    IdentifierConflict, SaleBeforeClick, AttributionWindowExpired, CurrencyNotSupported.
    """
    at = max(sale.at for _, sale in batch)
    registry = Registry(connection, [_identifiers(program, sale) for program, sale in batch], at=at)
    rates = Rates(connection, [_exchange(program, sale) for program, sale in batch])
    recorded = RecordedSales(connection, [_query(program, sale, registry) for program, sale in batch])
    accepted: list[_AcceptedSale] = []
    outranked: list[Outranked] = []
    results: list[SaleResult | ServiceError] = []
    for (program, sale), sale_id in zip(batch, ids.after(at, len(batch)), strict=True):
        try:
            item = _decide(program, sale, sale_id, registry=registry, recorded=recorded, rates=rates)
        except ServiceError as error:
            results.append(error)
        else:
            _apply(item, recorded)
            if item.claimant is not None:
                outranked.append(outranking.outrank_by_sale(item.claimant, item.customer, registry))
            accepted.append(item)
            results.append(_result(item))
    if accepted:
        _store(connection, accepted, outranked, at=at)
    return results


def _identifiers(program: ProgramTerms, sale: Sale) -> CustomerQuery:
    return CustomerQuery(program.id, sale.customer_key, keys.click_program(sale.click_id or ""), sale.click_id)


def _exchange(program: ProgramTerms, sale: Sale) -> Exchange:
    return Exchange(sale.currency, program.currency, sale.happened_at.date())


def _find(program: ProgramTerms, sale: Sale, registry: Registry) -> SaleBuyer | None:
    return buyers.find(program, sale.click_id, sale.customer_key, registry)


def _query(program: ProgramTerms, sale: Sale, registry: Registry) -> SaleQuery:
    """Return the query for sales with this transaction_id, and for likely reports by the connected payment account."""
    buyer = _find(program, sale, registry)
    customer = buyer.customer if buyer else None
    compared = program.has_payments and sale.provenance == Provenance.API and customer is not None
    customer_id = customer.id if customer and compared and customer.first_purchase_at else None
    return SaleQuery(program.id, sale.transaction_id, customer_id, sale.amount_cents, sale.currency, sale.happened_at)


def _decide(
    program: ProgramTerms, sale: Sale, sale_id: int, *, registry: Registry, recorded: RecordedSales, rates: Rates
) -> _AcceptedSale:
    """Return the sale to store, with what it earns. Raises the errors of `record`."""
    payload_hash = sale.payload_hash
    same = recorded.same(program.id, sale.transaction_id)
    if same is not None:
        existing = {"eventId": same.id, "recorded_at": same.at}
        raise DuplicateTransaction(existing=existing, same_payload=same.payload_hash == payload_hash)
    is_backfilled = sale.occurred_at is not None
    buyer = buyers.require(_find(program, sale, registry), program, sale.happened_at, is_backfilled=is_backfilled)
    customer, claimant = buyer.customer, buyer.claimant
    if program.has_payments and sale.provenance == Provenance.API and customer.first_purchase_at is not None:
        recorded.require_no_likely_duplicate(program.id, sale.transaction_id)
    cents = rates.convert(sale.amount_cents, _exchange(program, sale))
    first_purchase_at = customer.first_purchase_at
    earned_cents = commission.on_sale(
        program.terms, cents, first_purchase_at=first_purchase_at, occurred_at=sale.happened_at
    )
    earned = (cents, earned_cents, first_purchase_at is None)
    return _AcceptedSale(sale_id, sale, program, customer, claimant, *earned, payload_hash)


def _apply(item: _AcceptedSale, recorded: RecordedSales) -> None:
    """Show this sale to later ones of the batch: its transaction_id is used, its customer has converted."""
    sale = item.sale
    recorded.add(item.program.id, RecordedSale(sale.transaction_id, item.sale_id, sale.at, item.payload_hash))
    if item.is_first:
        item.customer.first_purchase_at = sale.happened_at
        item.customer.status = CustomerStatus.CONVERSION


def _result(item: _AcceptedSale) -> SaleResult:
    commission_id = item.sale_id if item.commission_cents else None
    saved = item.customer.customer_key
    money = (commission_id, item.commission_cents, item.program.currency)
    return SaleResult(item.sale_id, item.program.id, saved or item.sale.customer_key, *money, saved is not None)


def _store(
    connection: Connection, accepted: Sequence[_AcceptedSale], outranked: Sequence[Outranked], *, at: datetime
) -> None:
    """Insert the sales and their effects; the unique key (program_id, transaction_id) rejects a lost race."""
    _insert(connection, [_row(item) for item in accepted])
    changed = [item.customer for item in accepted if item.is_first]
    changed += [customer for each in outranked for customer in (each.customer, each.by)]
    customers.save(connection, {customer.id: customer for customer in changed}.values())
    ledger.append(connection, [_earned(item) for item in accepted], at=at)
    increments = [each for item in accepted for each in _increments(item)]
    rollups.add(connection, [*increments, *outranking.store(connection, outranked, at=at)])


def _earned(item: _AcceptedSale) -> ledger.Earned:
    at, happened_at, cents = item.sale.at, item.sale.happened_at, item.commission_cents
    return ledger.earn(item.program, item.customer, cents, at=at, happened_at=happened_at, sale_id=item.sale_id)


def _increments(item: _AcceptedSale) -> tuple[rollups.Increment, rollups.Increment]:
    """Count the sale on the day it happened, its commission on the day it is created."""
    mine, first = (item.program.id, item.customer.partner_id), int(item.is_first)
    happened, created = rollups.day_of(item.sale.happened_at), rollups.day_of(item.sale.at)
    counted = rollups.Increment(*mine, happened, conversions=first, sales=1, revenue_cents=item.program_cents)
    return counted, rollups.Increment(*mine, created, commission_cents=item.commission_cents)


def _row(item: _AcceptedSale) -> tuple[Any, ...]:
    sale, customer = item.sale, item.customer
    identity = (item.program.id, item.sale_id, sale.transaction_id, customer.id, customer.partner_id)
    amounts = (sale.amount_cents, sale.currency, item.program_cents)
    reported = (sale.details, sale.customer_key, item.payload_hash, sale.provenance)
    return (*identity, *amounts, *reported, to_millis(sale.happened_at), to_millis(sale.at))
