"""The check that every rollup, ledger and unique key agrees with the events: `svc admin db check`."""

from collections import Counter
from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any

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
    leads,
    ledger_entries,
    partner_rollups,
    partners,
    refunds,
    refused_calls,
    rollups,
    sales,
)
from storage.tables.columns import DAY_MILLIS, to_millis
from storage.tables.event import COUNTS
from storage.tracking.ledger import PARTNER_KINDS

_Cell = tuple[int, int | None, date, str]  # a total of a program's day, of a partner in it or (None) of all

# What the unique keys forbid, in case a database was restored or changed without them.
UNIQUE: tuple[tuple[str, Any, tuple[str, ...]], ...] = (
    ("sales with one transaction_id", sales, ("transaction_id",)),
    ("customers with one customer_key", customers, ("customer_key",)),
    ("customers known by one customer_key", customers, ("known_as",)),
    ("customers made from one click", customers, ("click_id",)),
    ("leads of one settlement", leads, ("customer_id", "settlement")),
    ("commissions on one sale", commissions, ("sale_id",)),
    ("commissions on one lead", commissions, ("lead_id",)),
    ("refunds with one refund_id", refunds, ("sale_id", "refund_id")),
    ("refunds by one request", refunds, ("request_id",)),
    ("clicks with one click_id", clicks, ("click_id",)),
    ("rejections of one request", refused_calls, ("request_id",)),
)


def run(connection: Connection) -> list[BookDifference]:
    """Recompute everything that is stored twice, over one snapshot, and return each difference."""
    parts = (_doubled, _customers, _without_partner, ledger.differences, _rollups)
    return [difference for part in parts for difference in part(connection)]


def _doubled(connection: Connection) -> Iterator[BookDifference]:
    """Yield every value that more than one row of a program carries."""
    for what, table, names in UNIQUE:
        columns = [table.c[name] for name in names]
        key = [table.c.program_id, *columns]
        count = func.count().label("rows")
        present = [column.is_not(None) for column in columns]
        for row in connection.execute(select(*key, count).where(*present).group_by(*key).having(count > 1)):
            values = ", ".join(f"{name} {value}" for name, value in zip(names, row[1:-1], strict=True))
            yield BookDifference(what, f"program {row.program_id}, {values}", row.rows, 1)


def _customers(connection: Connection) -> Iterator[BookDifference]:
    """Yield customers whose status or first purchase does not follow from the number and times of their sales."""
    sale, customer, count = sales.c, customers.c, func.count(sales.c.id)
    mine = and_(sale.program_id == customer.program_id, sale.customer_id == customer.id)
    key = (customer.program_id, customer.id, customer.status, customer.first_purchase_at)
    same_time = func.count().filter(sale.occurred_at == customer.first_purchase_at)
    earliest = func.min(sale.occurred_at).label("earliest_at")
    counted = select(*key, count.label("sales"), same_time.label("same_time"), earliest).group_by(*key)
    converted = customer.status == CustomerStatus.CONVERSION
    purchased = customer.first_purchase_at.is_not(None)
    wrong = (converted != (count > 0)) | (purchased != (count > 0)) | ((count > 0) & (same_time == 0))
    for row in connection.execute(counted.select_from(customers.outerjoin(sales, mine)).having(wrong)):
        stored, first = (to_millis(at) if at else 0 for at in (row.first_purchase_at, row.earliest_at))
        yield from compare(
            f"program {row.program_id}, customer {row.id}",
            ("conversion status", row.status == CustomerStatus.CONVERSION, row.sales > 0),
            ("first purchase in milliseconds", stored, stored if row.same_time else first),
        )


def _without_partner(connection: Connection) -> Iterator[BookDifference]:
    """Yield the partners who do not exist but have clicks."""
    click, count = clicks.c, func.count().label("rows")
    sender = and_(partners.c.program_id == click.program_id, partners.c.id == click.partner_id)
    lost = select(click.program_id, click.partner_id, count).select_from(clicks.outerjoin(partners, sender))
    for row in connection.execute(lost.where(partners.c.id.is_(None)).group_by(click.program_id, click.partner_id)):
        where = f"program {row.program_id}, partner {row.partner_id}"
        yield BookDifference("clicks without a partner", where, row.rows, 0)


def _rollups(connection: Connection) -> Iterator[BookDifference]:
    """Yield every daily total of a program or a partner that is not what the events add up to."""
    recomputed, stored = Counter[_Cell](), Counter[_Cell]()
    for statement in _counted():
        for row in connection.execute(statement).mappings():
            day = EPOCH + timedelta(days=row["day"])
            for name in COUNTS:
                if value := int(row.get(name) or 0):
                    recomputed[row["program_id"], row["partner_id"], day, name] += value
                    recomputed[row["program_id"], None, day, name] += value
    for table in (rollups, partner_rollups):
        for row in connection.execute(select(table)).mappings():
            own = (row["program_id"], row.get("partner_id"), row["day"])
            stored.update({(*own, name): row[name] for name in COUNTS})
    # Clicks that are deleted by now are as the partners' totals have them: the programs' totals are their sums.
    ends = {row.program_id: row.deleted_before.date() for row in connection.execute(select(click_retention))}
    for (program_id, partner_id, day, name), count in stored.items():
        missing = count - recomputed[program_id, partner_id, day, name]
        is_deleted = name == "clicks" and program_id in ends and day < ends[program_id]
        if is_deleted and partner_id is not None and missing > 0:
            recomputed[program_id, None, day, name] += missing
            recomputed[program_id, partner_id, day, name] = count
    for cell in sorted(recomputed.keys() | stored.keys(), key=lambda each: (each[0], each[1] or 0, *each[2:])):
        program_id, partner_id, day, name = cell
        kind, whose = ("program", "") if partner_id is None else ("partner", f", partner {partner_id}")
        where = f"program {program_id}{whose} on {day}"
        yield from compare(where, (f"{kind} rollup {name}", stored[cell], recomputed[cell]))


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
    of_commission = and_(entry.program_id == commissions.c.program_id, entry.commission_id == commissions.c.id)
    movement = and_(of_commission, entry.kind.in_(PARTNER_KINDS))
    net_cents = func.sum(entry.amount_cents).label("commission_cents")
    daily = _daily(commissions, commissions.c.created_at, net_cents)
    return daily.select_from(commissions.join(ledger_entries, movement))
