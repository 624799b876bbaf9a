"""Reconciliation: compares a payment processor's export with the recorded sales, a few hundred payments in one read."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Column, Connection, select

from storage.rules import keys, reconciliation
from storage.rules.fraud.flag import FlagKind, FlagState
from storage.rules.reconciliation import CORRECTED, WITHIN, Buyer, Payment, PaymentFinding, Recorded
from storage.rules.settlement import Settlement
from storage.tables import customers, flags, payment_customers, payment_references, sales
from storage.tracking.customers import Customer, CustomerQuery, Registry

DEEPEST = 3  # a correction of a correction is followed this far


class Reconciled(NamedTuple):
    """The findings; `unattributed` counts payments of customers that no partner sent."""

    findings: list[PaymentFinding]
    unattributed: int


def compare(connection: Connection, program_id: int, payments: Sequence[Payment], *, at: datetime) -> Reconciled:
    """Compare payments with the program's sales; one call needs all payments of a customer that are near in time.

    The number of statements is fixed: by the payments' names, by their customers, and by those customers' sales.
    """
    customer_ids = _named(connection, program_id, payments)
    buyers = _buyers(connection, program_id, payments, customer_ids, at)
    groups: dict[int, list[Payment]] = defaultdict(list)
    for payment in payments:
        if (buyer := buyers.get(payment.line)) is not None:
            groups[buyer.id].append(payment)
    known = {buyer.id: buyer for buyer in buyers.values()}
    recorded = _recorded(connection, program_id, known, payments)
    findings: list[PaymentFinding] = []
    for customer_id, paid in groups.items():
        buyer = known[customer_id]
        settled = buyer.settlement != Settlement.PROVISIONAL
        who = Buyer(buyer.click_id, buyer.customer_key, settled, buyer.first_purchase_at)
        findings += reconciliation.judge(paid, recorded[customer_id], who)
    return Reconciled(sorted(findings, key=lambda finding: finding.payment.line), len(payments) - len(buyers))


def _named(connection: Connection, program_id: int, payments: Iterable[Payment]) -> dict[int, int]:
    """Return the customer of the sale that each payment's names lead to, by line."""
    names = {name for payment in payments for name in payment.names}
    reported = {
        row.reference: row.transaction_id
        for row in _rows_with(connection, program_id, payment_references.c.reference, names)
    }
    by_name = {
        row.transaction_id: row.customer_id
        for row in _rows_with(connection, program_id, sales.c.transaction_id, {*names, *reported.values()})
    }
    return {
        payment.line: customer_id
        for payment in payments
        for name in payment.names
        if (customer_id := by_name.get(reported.get(name, name))) is not None
    }


def _buyers(
    connection: Connection, program_id: int, payments: Sequence[Payment], customer_ids: Mapping[int, int], at: datetime
) -> dict[int, Customer]:
    """Return who paid, by line: the customer of the metadata's click, else of its key, the processor, or the sale."""
    processors = {payment.processor_customer for payment in payments if payment.processor_customer}
    clicks = {
        row.processor_customer: row.click_id
        for row in _rows_with(connection, program_id, payment_customers.c.processor_customer, processors)
    }
    owners: dict[int | None, str] = {
        row.id: row.click_id for row in _rows_with(connection, program_id, customers.c.id, customer_ids.values())
    }
    named = {
        payment.line: (
            payment.click_id,
            clicks.get(payment.processor_customer or ""),
            owners.get(customer_ids.get(payment.line)),
        )
        for payment in payments
    }
    queries: list[CustomerQuery] = [(program_id, payment.customer_key, None) for payment in payments]
    queries += [
        (program_id, None, each)
        for click_ids in named.values()
        for each in click_ids
        if each and keys.click_program(each) == program_id
    ]
    registry = Registry(connection, queries, at=at)
    buyers: dict[int, Customer] = {}
    for payment in payments:
        first, *others = (registry.by_click(click_id) for click_id in named[payment.line])
        known = (first, registry.by_key(program_id, payment.customer_key), *others)
        buyer = next((each for each in known if each is not None), None)
        if buyer is not None:
            buyers[payment.line] = buyer
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
    separate = _separate(connection, program_id, (f"sale:{row.id}" for row in rows))
    named = {name for payment in payments for name in payment.names}
    first, last = (choose(payment.occurred_at for payment in payments) for choose in (min, max))
    by_customer: dict[int, list[Recorded]] = defaultdict(list)
    for row in rows:
        reported = references.get(row.transaction_id, set())
        names = frozenset({*_bases(row.transaction_id), *reported})
        at = row.occurred_at
        if names & named or first - WITHIN <= at <= last + WITHIN:
            cents = (row.amount_cents, row.refunded_cents)
            decided = (bool(reported), f"sale:{row.id}" in separate)
            sale = Recorded(row.transaction_id, *cents, row.currency, at, names, *decided)
            by_customer[row.customer_id].append(sale)
    return by_customer


def _separate(connection: Connection, program_id: int, subjects: Iterable[str]) -> set[str]:
    """Return which sales a person decided to be no duplicates, as the flags name them."""
    rows = _rows_with(connection, program_id, flags.c.subject, subjects)
    return {row.subject for row in rows if (row.kind, row.state) == (FlagKind.POSSIBLE_DUPLICATE, FlagState.DISMISSED)}


def _bases(transaction_id: str) -> Iterable[str]:
    """Yield a sale's name, and those of the sales that it corrects."""
    for _ in range(DEEPEST):
        yield transaction_id
        transaction_id = transaction_id.removesuffix(CORRECTED)


def _rows_with(connection: Connection, program_id: int, column: Column[Any], values: Iterable[Any]) -> Sequence[Any]:
    """Return the program's rows that have one of the values in a table's column."""
    table = column.table
    mine = (table.c.program_id == program_id, column.in_(set(values)))
    return connection.execute(select(table).where(*mine).order_by(*table.primary_key)).all()
