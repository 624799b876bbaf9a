"""Sales: a customer pays, and the partner who sent them earns a commission."""

from collections.abc import Sequence
from datetime import datetime
from operator import itemgetter
from typing import Any, NamedTuple

from sqlalchemy import Connection

from storage.engine import ids
from storage.engine.group_commit import set_based
from storage.engine.statements import Statement
from storage.rules.errors import ServiceError
from storage.rules.fraud.flag import Finding
from storage.tables.columns import to_millis
from storage.tracking import flagging, ledger, outranking, rollups, sale_decisions
from storage.tracking.currencies import Rates
from storage.tracking.customers import CustomerQuery, Registry
from storage.tracking.program_terms import ProgramTerms
from storage.tracking.recorded_sales import RecordedSale, RecordedSales, SaleQuery
from storage.tracking.sale_decisions import Sale, SaleBuyer, SaleChange, SaleResult

_insert = Statement("sale_insert")


class _AcceptedSale(NamedTuple):
    """A change with its sale, as reported and as recorded, and with the program."""

    recorded: RecordedSale
    sale: Sale
    program: ProgramTerms
    change: SaleChange


@set_based
def record(connection: Connection, batch: Sequence[tuple[ProgramTerms, Sale]]) -> list[SaleResult | ServiceError]:
    """Record a batch of sales; each result is a SaleResult or one of the errors of `sale_decisions.decide`."""
    at = max(sale.at for _, sale in batch)
    registry = Registry(connection, [_identifiers(program, sale) for program, sale in batch], at=at)
    rates = Rates(connection, [sale_decisions.exchange(sale, program) for program, sale in batch])
    recorded = RecordedSales(connection, [_query(program, sale, registry) for program, sale in batch])
    accepted: list[_AcceptedSale] = []
    results: list[SaleResult | ServiceError] = []
    for (program, sale), sale_id in zip(batch, ids.after(at, len(batch)), strict=True):
        try:
            buyer = _buyer(program, sale, registry)
            change = sale_decisions.decide(sale, program, buyer, recorded=recorded, rates=rates)
        except ServiceError as error:
            results.append(error)
        else:
            said = (change.customer.id, sale.amount_cents, sale.currency)
            new = RecordedSale(sale.transaction_id, sale_id, sale.at, *said)
            recorded.add(program.id, new)
            for customer in change.customers:
                registry.change(customer)
            accepted.append(_AcceptedSale(new, sale, program, change))
            results.append(_result(accepted[-1]))
    if accepted:
        _store(connection, accepted, registry, at=at)
    return results


def _identifiers(program: ProgramTerms, sale: Sale) -> CustomerQuery:
    return CustomerQuery(program.id, sale.customer_key, sale.click_id)


def _buyer(program: ProgramTerms, sale: Sale, registry: Registry) -> SaleBuyer | None:
    clicked, holder = registry.by_click(sale.click_id), registry.by_key(program.id, sale.customer_key)
    return sale_decisions.buyer_of(sale, program, clicked=clicked, holder=holder)


def _query(program: ProgramTerms, sale: Sale, registry: Registry) -> SaleQuery:
    """Return the query for sales with this transaction_id, and for likely reports by the connected payment account."""
    buyer = _buyer(program, sale, registry)
    is_compared = buyer is not None and sale_decisions.may_repeat(sale, program, buyer.customer)
    customer_id = buyer.customer.id if buyer and is_compared else None
    return SaleQuery(program.id, sale.transaction_id, customer_id, sale.amount_cents, sale.currency, sale.happened_at)


def _result(accepted: _AcceptedSale) -> SaleResult:
    recorded, sale, program, change = accepted
    commission_id = recorded.id if change.commission_cents else None
    customer_key = sale.customer_key or change.customer.customer_key
    is_saved = customer_key is not None and customer_key == change.customer.customer_key
    money = (commission_id, change.commission_cents, program.currency)
    repeats = change.likely and change.likely.transaction_id
    return SaleResult(recorded.id, program.id, customer_key, *money, is_saved, repeats)


def _store(connection: Connection, accepted: Sequence[_AcceptedSale], registry: Registry, *, at: datetime) -> None:
    """Insert the sales and their effects; the unique key (program_id, transaction_id) rejects a lost race."""
    registry.save(connection)
    _insert(connection, sorted((_row(each) for each in accepted), key=itemgetter(0, 2)))
    ledger.append(connection, [_earned(each) for each in accepted], at=at)
    flagging.raise_each(connection, [_possible_duplicate(each) for each in accepted if each.change.likely], at=at)
    increments = [each for item in accepted for each in _increments(item)]
    outranked = [each.change.outranked for each in accepted if each.change.outranked]
    rollups.add(connection, [*increments, *outranking.store(connection, outranked, at=at)])


def _possible_duplicate(accepted: _AcceptedSale) -> tuple[int, Finding]:
    recorded, sale, program, change = accepted
    payment, earns = change.likely.transaction_id if change.likely else "", change.commission_cents > 0
    return program.id, flagging.possible_duplicate(recorded, change.customer, payment, at=sale.at, earns=earns)


def _earned(accepted: _AcceptedSale) -> ledger.Earned:
    recorded, sale, program, change = accepted
    at, happened_at, cents = sale.at, sale.happened_at, change.commission_cents
    return ledger.earn(program, change.customer, cents, at=at, happened_at=happened_at, sale_id=recorded.id)


def _increments(accepted: _AcceptedSale) -> tuple[rollups.Increment, rollups.Increment]:
    """Count the sale on the day it happened, its commission on the day it is created."""
    _, sale, program, change = accepted
    mine, first = (program.id, change.customer.partner_id), int(change.is_first)
    happened, created = rollups.day_of(sale.happened_at), rollups.day_of(sale.at)
    counted = rollups.Increment(*mine, happened, conversions=first, sales=1, revenue_cents=change.program_cents)
    return counted, rollups.Increment(*mine, created, commission_cents=change.commission_cents)


def _row(accepted: _AcceptedSale) -> tuple[Any, ...]:
    recorded, sale, program, change = accepted
    identity = (program.id, recorded.id, sale.transaction_id, change.customer.id, change.customer.partner_id)
    amounts = (sale.amount_cents, sale.currency, change.program_cents, sale.tax_cents, sale.shipping_cents)
    reported = (sale.details, sale.customer_key, sale.payload_hash, sale.provenance, sale.caller)
    return (*identity, *amounts, *reported, to_millis(sale.happened_at), to_millis(sale.at))
