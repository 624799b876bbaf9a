"""Sales: a customer pays, and the partner who sent them earns a commission."""

from collections.abc import Sequence
from datetime import datetime
from operator import itemgetter
from typing import Any

from sqlalchemy import Connection, select

from storage.engine import feed, ids
from storage.engine.database import lock_rows
from storage.engine.feed import Note
from storage.engine.group_commit import set_based
from storage.engine.statements import Statement
from storage.rules.errors import ServiceError
from storage.rules.reconciliation import WITHIN
from storage.tables import payment_accounts
from storage.tables.columns import from_millis, to_millis
from storage.tracking import flagging, ledger, outranking, rollups, sale_decisions
from storage.tracking.coupons import Coupons
from storage.tracking.currencies import Rates
from storage.tracking.customers import Registry
from storage.tracking.ledger import Earned
from storage.tracking.program_terms import ProgramTerms
from storage.tracking.sale_decisions import Provenance, RecordedSale, Sale, SaleChange, SaleResult

_find = Statement("sale_lookup")
_insert = Statement("sale_insert")
NO_HASH = ""  # versions before 0.4 store a hash of the call, which none reads
_Batch = Sequence[tuple[ProgramTerms, Sale]]
_Recorded = dict[tuple[int, str], RecordedSale]  # by program and the transaction_id of the sale that may repeat it


@set_based
def record(connection: Connection, batch: _Batch) -> list[SaleResult | ServiceError]:
    """Record a batch of sales; each result is a SaleResult or one of the errors of `sale_decisions.decide`."""
    at = max(sale.at for _, sale in batch)
    registry = Registry(connection, [(program.id, sale.customer_key, sale.click_id) for program, sale in batch], at=at)
    coupons = Coupons(connection, batch)
    rates = Rates(connection, [sale_decisions.exchange(sale, program) for program, sale in batch])
    same, likely = _find_recorded(connection, batch, registry)
    changes: list[SaleChange] = []
    results: list[SaleResult | ServiceError] = []
    for (program, sale), sale_id in zip(batch, ids.after(at, len(batch)), strict=True):
        key = (program.id, sale.transaction_id)
        named = coupons.name(registry, program, sale, sale.happened_at)
        repeats = (same.get(key), likely.get(key))
        try:
            change = sale_decisions.decide(sale_id, sale, program, named=named, repeats=repeats, rates=rates)
        except ServiceError as error:
            results.append(error)
        else:
            same[key] = change.recorded
            registry.change(*change.changed)
            changes.append(change)
            found = sale.coupon_code is None or coupons.find(program.id, sale.coupon_code, sale.happened_at)
            results.append(_result(change, is_unknown=not found))
    if changes:
        _store(connection, changes, registry, coupons, at=at)
    return results


def _find_recorded(connection: Connection, batch: _Batch, registry: Registry) -> tuple[_Recorded, _Recorded]:
    """Return the recorded sales with these transaction_ids, and those by payment accounts that the batch may repeat."""
    rows: dict[tuple[Any, ...], None] = {}
    compared = set()
    for program, sale in batch:
        customer_id = None
        if program.has_payments and sale.provenance == Provenance.API:
            buyer = sale_decisions.buyer_of(sale, program, registry.named(program.id, sale))
            if buyer and buyer.customer.first_purchase_at is not None:
                customer_id = buyer.customer.id
                compared.add(program.id)
        span = (to_millis(sale.happened_at + distance) for distance in (-WITHIN, WITHIN))
        rows[program.id, sale.transaction_id, customer_id, sale.amount_cents, sale.currency, *span] = None
    if compared:  # events of the accounts take this lock, too: of two concurrent reports one sees the other
        account = payment_accounts.c.program_id
        lock_rows(connection, select(account).where(account.in_(compared)).order_by(account), read=True)
    same: _Recorded = {}
    likely: _Recorded = {}
    for row in _find(connection, list(rows)):
        said = (row.customer_id, row.amount_cents, row.currency)
        recorded = RecordedSale(row.transaction_id, row.id, from_millis(row.at), *said)
        (likely if row.is_likely else same).setdefault((row.program_id, row.reported_id), recorded)
    return same, likely


def _result(change: SaleChange, *, is_unknown: bool) -> SaleResult:
    customer_key = change.sale.customer_key or change.customer.customer_key
    is_saved = customer_key is not None and customer_key == change.customer.customer_key
    cents = change.commission_cents
    repeats = change.likely and change.likely.transaction_id
    earned = (change.id if cents else None, cents, change.program.currency)
    return SaleResult(change.id, change.program.id, customer_key, *earned, is_saved, repeats, is_unknown)


def _store(
    connection: Connection, changes: Sequence[SaleChange], registry: Registry, coupons: Coupons, *, at: datetime
) -> None:
    """Insert the sales and their effects; the unique key (program_id, transaction_id) rejects a lost race."""
    registry.save(connection)
    _insert(connection, sorted((_row(each) for each in changes), key=itemgetter(0, 2)))
    earned = [
        Earned(each.program, each.customer, each.commission_cents, each.sale.at, each.sale.happened_at, sale_id=each.id)
        for each in changes
    ]
    ledger.append(connection, earned, at=at)
    sold = (Note(each.program.id, "sale.record", each.sale.at, each.id, cents=each.program_cents) for each in changes)
    feed.note(connection, sold)
    possible_duplicates = []
    for each in changes:
        if each.likely:
            reports = (each.recorded, each.customer, each.likely.transaction_id)
            found = flagging.possible_duplicate(*reports, at=each.sale.at, earns=each.commission_cents > 0)
            possible_duplicates.append((each.program.id, found))
    flagging.raise_each(connection, possible_duplicates, at=at)
    steps = [step for each in changes for step in _increments(each)]
    outranked = [each.outranked for each in changes if each.outranked]
    steps += coupons.save(connection, [each.customer for each in changes])
    rollups.add(connection, [*steps, *outranking.store(connection, outranked, at=at)])


def _increments(change: SaleChange) -> tuple[rollups.Increment, rollups.Increment]:
    """Count the sale on the day it happened, its commission on the day it is created."""
    sale = change.sale
    mine = (change.program.id, change.customer.partner_id)
    first = int(change.is_first)
    happened, created = sale.happened_at.date(), sale.at.date()
    counted = rollups.Increment(*mine, happened, conversions=first, sales=1, revenue_cents=change.program_cents)
    return counted, rollups.Increment(*mine, created, commission_cents=change.commission_cents)


def _row(change: SaleChange) -> tuple[Any, ...]:
    sale, customer = change.sale, change.customer
    identity = (change.program.id, change.id, sale.transaction_id, customer.id, customer.partner_id)
    amounts = (sale.amount_cents, sale.currency, change.program_cents, sale.tax_cents, sale.shipping_cents)
    reported = (sale.details, sale.customer_key, NO_HASH, sale.provenance, sale.caller)
    return (*identity, *amounts, *reported, to_millis(sale.happened_at), to_millis(sale.at))
