"""Reconciliation: compares a payment processor's export with the recorded sales, a few hundred payments in one read."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Column, Connection, select

from storage.engine.statements import read_statement
from storage.rules import keys, reconciliation
from storage.rules.fraud.flag import FlagKind, FlagState
from storage.rules.reconciliation import CORRECTED, WITHIN, Payment, PaymentFinding, Recorded
from storage.tables import flags, payment_references, sales
from storage.tracking.customers import Customer, CustomerQuery, Registry

_CLICKS = read_statement("clicks_of_payments")
DEEPEST = 3  # a correction of a correction is followed this far


class Reconciliation(NamedTuple):
    """The differences, by line; `unattributed` counts payments of customers without a partner."""

    findings: list[PaymentFinding]
    unattributed: int


def compare(connection: Connection, program_id: int, payments: Sequence[Payment], *, at: datetime) -> Reconciliation:
    """Compare payments with the program's sales; one call needs all payments of a customer that are near in time."""
    buyers = _buyers(connection, program_id, payments, at)
    groups: dict[int, list[Payment]] = defaultdict(list)
    for payment in payments:
        if (buyer := buyers.get(payment.line)) is not None:
            groups[buyer.id].append(payment)
    known = {buyer.id: buyer for buyer in buyers.values()}
    recorded = _recorded(connection, program_id, known, payments)
    findings: list[PaymentFinding] = []
    for customer_id, paid in groups.items():
        findings += reconciliation.judge(paid, recorded[customer_id], known[customer_id])
    return Reconciliation(sorted(findings, key=lambda finding: finding.line), len(payments) - len(buyers))


def _buyers(connection: Connection, program_id: int, payments: Sequence[Payment], at: datetime) -> dict[int, Customer]:
    """Return who paid, by line: the customer of the metadata's click, else of its key, the processor, or the sale."""
    names = [name for payment in payments for name in (*payment.names, payment.processor_customer) if name]
    rows = connection.execute(_CLICKS, {"program_id": program_id, "names": names})
    clicks: dict[str | None, str] = {row.name: row.click_id for row in rows}
    named: dict[int, tuple[str | None, ...]] = {}
    for payment in payments:
        of_sale = map(clicks.get, reversed(payment.names))
        of_processor = clicks.get(payment.processor_customer)
        named[payment.line] = (payment.click_id, of_processor, next(filter(None, of_sale), None))
    found = {each for click_ids in named.values() for each in click_ids if each}
    own = [each for each in sorted(found) if keys.click_program(each) == program_id]
    queries: list[CustomerQuery] = [(program_id, payment.customer_key, None) for payment in payments]
    queries += [(program_id, None, each) for each in own]
    registry = Registry(connection, queries, at=at)
    buyers: dict[int, Customer] = {}
    for payment in payments:
        first, *others = (registry.by_click(click_id) for click_id in named[payment.line])
        for customer in (first, registry.by_key(program_id, payment.customer_key), *others):
            if customer is not None:
                buyers.setdefault(payment.line, customer)
    return buyers


def _recorded(
    connection: Connection, program_id: int, customer_ids: Iterable[int], payments: Sequence[Payment]
) -> dict[int, list[Recorded]]:
    """Return the sales of each customer that may match the payments, by name or by similarity."""
    rows = _rows_with(connection, program_id, sales.c.customer_id, customer_ids)
    references: dict[str, set[str]] = defaultdict(set)
    recorded_ids = (row.transaction_id for row in rows)
    for row in _rows_with(connection, program_id, payment_references.c.transaction_id, recorded_ids):
        references[row.transaction_id].add(row.reference)
    about = _rows_with(connection, program_id, flags.c.subject, (f"sale:{row.id}" for row in rows))
    dismissed = (FlagKind.POSSIBLE_DUPLICATE, FlagState.DISMISSED)  # a person decided that it is none
    separate = {row.subject for row in about if (row.kind, row.state) == dismissed}
    named = {name for payment in payments for name in payment.names}
    first, last = (choose(payment.occurred_at for payment in payments) for choose in (min, max))
    by_customer: dict[int, list[Recorded]] = defaultdict(list)
    for row in rows:
        reported = references.get(row.transaction_id, set())
        corrected = (row.transaction_id.removesuffix(CORRECTED * depth) for depth in range(DEEPEST))
        names = frozenset({*corrected, *reported})
        at = row.occurred_at
        if names & named or first - WITHIN <= at <= last + WITHIN:
            cents = (row.amount_cents, row.refunded_cents)
            decided = (bool(reported), f"sale:{row.id}" in separate)
            sale = Recorded(row.transaction_id, *cents, row.currency, at, names, *decided)
            by_customer[row.customer_id].append(sale)
    return by_customer


def _rows_with(connection: Connection, program_id: int, column: Column[Any], values: Iterable[Any]) -> Sequence[Any]:
    table = column.table
    mine = (table.c.program_id == program_id, column.in_(set(values)))
    return connection.execute(select(table).where(*mine).order_by(*table.primary_key)).all()
