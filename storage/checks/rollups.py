"""Recomputes the daily totals of programs and partners from the events, in a few statements."""

from collections import Counter
from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, Column, Connection, Select, and_, case, func, select, type_coerce

from storage.checks import ledger
from storage.checks.ledger import BookDifference, compare
from storage.rules.reports.breakdown import EPOCH
from storage.rules.settlement import CustomerStatus
from storage.tables import (
    click_retention,
    clicks,
    commissions,
    customers,
    ledger_entries,
    partner_rollups,
    partners,
    sales,
)
from storage.tables import rollups as program_rollups
from storage.tables.columns import DAY_MILLIS
from storage.tables.event import COUNTS
from storage.tracking.ledger import PARTNER_KINDS


class _Cell(NamedTuple):
    """One total of one day; `partner_id` None is the program's own row."""

    program_id: int
    partner_id: int | None
    day: date
    total: str

    def __str__(self) -> str:
        partner = "" if self.partner_id is None else f", partner {self.partner_id}"
        return f"program {self.program_id}{partner} on {self.day}"


def differences(connection: Connection) -> Iterator[BookDifference]:
    """Return every daily total that is not what the events add up to."""
    recomputed, stored = _recomputed(connection), Counter[_Cell]()
    for table in (program_rollups, partner_rollups):
        for row in connection.execute(select(table)).mappings():
            for name in COUNTS:
                stored[_Cell(row["program_id"], row.get("partner_id"), row["day"], name)] = row[name]
    # Clicks that are deleted by now are as the partners' totals have them: the programs' totals are their sums.
    ends = {row.program_id: row.deleted_before.date() for row in connection.execute(select(click_retention))}
    for cell, count in stored.items():
        is_deleted = cell.total == "clicks" and cell.program_id in ends and cell.day < ends[cell.program_id]
        if is_deleted and cell.partner_id is not None and count > recomputed[cell]:
            recomputed[cell._replace(partner_id=None)] += count - recomputed[cell]
            recomputed[cell] = count
    for cell in sorted(recomputed.keys() | stored.keys(), key=str):
        kind = "program rollup" if cell.partner_id is None else "partner rollup"
        yield from compare(str(cell), (f"{kind} {cell.total}", stored[cell], recomputed[cell]))


def _recomputed(connection: Connection) -> Counter[_Cell]:
    cells: Counter[_Cell] = Counter()
    for statement in _counted():
        for row in connection.execute(statement).mappings():
            day = EPOCH + timedelta(days=row["day"])
            for count in COUNTS:
                if value := int(row.get(count) or 0):
                    cells[_Cell(row["program_id"], row["partner_id"], day, count)] += value
                    cells[_Cell(row["program_id"], None, day, count)] += value
    return cells


def _counted() -> Iterator[Select[Any]]:
    """Yield the statements that count: each kind of events by program, partner and day."""
    customer, count = customers.c, func.count()
    yield _daily(clicks, clicks.c.at, count.label("clicks")).where(clicks.c.filtered.is_(None))
    signed_up = customer.signup_at.is_not(None) & customer.status.in_((CustomerStatus.LEAD, CustomerStatus.CONVERSION))
    yield _daily(customers, customer.signup_at, count.label("leads")).where(signed_up)
    paid = customer.first_purchase_at.is_not(None) & (customer.status == CustomerStatus.CONVERSION)
    yield _daily(customers, customer.first_purchase_at, count.label("conversions")).where(paid)
    yield _sales()
    yield _commissions()
    yield _daily(partners, partners.c.created_at, count.label("partners"), partner="id")


def _daily(table: Any, at: Column[Any], *counts: Any, partner: str = "partner_id") -> Select[Any]:
    """Return the start of a statement that counts for each program, partner and UTC day of `at`."""
    key = (table.c.program_id, table.c[partner].label("partner_id"))
    day = (type_coerce(at, BigInteger) // DAY_MILLIS).label("day")
    return select(*key, day, *counts).group_by(*key, day)


def _sales() -> Select[Any]:
    """Sales and revenue net of refunds, by the day of the sale; a fully refunded sale does not count."""
    back = ledger.refunded()
    whole = func.coalesce(back.c.cents, 0) == sales.c.amount_cents
    counted = func.sum(case((whole, 0), else_=1)).label("sales")
    net_cents = func.sum(sales.c.program_cents - func.coalesce(back.c.program_cents, 0)).label("revenue_cents")
    of_sale = and_(back.c.program_id == sales.c.program_id, back.c.sale_id == sales.c.id)
    return _daily(sales, sales.c.occurred_at, counted, net_cents).select_from(sales.outerjoin(back, of_sale))


def _commissions() -> Select[Any]:
    """Commission net of its reversals, by the day the commission was created."""
    entry = ledger_entries.c
    movement = and_(
        entry.program_id == commissions.c.program_id,
        entry.commission_id == commissions.c.id,
        entry.kind.in_(PARTNER_KINDS),
    )
    net_cents = func.sum(entry.amount_cents).label("commission_cents")
    daily = _daily(commissions, commissions.c.created_at, net_cents)
    return daily.select_from(commissions.join(ledger_entries, movement))
