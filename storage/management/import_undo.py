"""Takes an import back within an hour, as long as nothing has been built on it."""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import date, datetime, timedelta
from typing import Any

from sqlalchemy import Connection, case, delete, func, insert, select, update

from storage.engine import audit, ids
from storage.engine.audit import Actor
from storage.management.import_report import matching
from storage.rules.errors import NotFound, ValidationError
from storage.rules.settlement import CustomerStatus
from storage.tables import (
    clicks,
    commissions,
    customers,
    flags,
    imports,
    leads,
    ledger_entries,
    partners,
    payment_customers,
    refunds,
    sales,
)
from storage.tables.ledger import COUNTS
from storage.tracking import rollups
from storage.tracking.rollups import Increment

LASTS = timedelta(hours=1)
ADDED = (  # what an import adds, in an order in which no row refers to a deleted one
    *((flags.c.customer_id, "customers"), (flags.c.partner_id, "partners")),
    *((ledger_entries.c.commission_id, "commissions"), (commissions.c.id, "commissions")),
    *((sales.c.id, "sales"), (leads.c.customer_id, "customers"), (payment_customers.c.click_id, "clicks")),
    *((customers.c.id, "customers"), (clicks.c.click_id, "clicks"), (partners.c.id, "partners")),
)
BUILT_ON = (
    *((clicks.c.partner_id, "partners"), (customers.c.partner_id, "partners"), (commissions.c.partner_id, "partners")),
    *((ledger_entries.c.partner_id, "partners"), (ledger_entries.c.commission_id, "commissions")),
    *((sales.c.customer_id, "customers"), (sales.c.customer_id, "buyers"), (leads.c.customer_id, "customers")),
    (refunds.c.sale_id, "sales"),
)
Added = dict[str, list[Any]]


def save(connection: Connection, program_id: int, added: Added, steps: Iterable[Increment], *, at: datetime) -> int:
    """Save what an import added, by the names in ADDED, and return its id; forget the imports of over an hour ago."""
    row = imports.c
    connection.execute(delete(imports).where(row.program_id == program_id, row.at < at - LASTS))
    for name, what, column, kind in (
        ("customers", customers.c.id, customers.c.click_id, "clicks"),
        ("buyers", sales.c.customer_id, sales.c.id, "sales"),
    ):
        found = [select(what).where(mine) for mine in matching(program_id, column, added[kind])]
        added[name] = sorted({each for one in found for each in connection.execute(one).scalars()})
    added["buyers"] = sorted({*added["buyers"]} - {*added["customers"]})
    totals: Counter[tuple[Any, ...]] = Counter()
    for _, partner_id, day, *counts in steps:
        for name, count in zip(COUNTS, counts, strict=True):
            totals[partner_id, day.isoformat(), name] -= count
    saved = {"added": added, "totals": [[*key, count] for key, count in totals.items()]}
    saved["built"] = _built_on(connection, program_id, added)
    [import_id] = ids.after(at, 1)
    connection.execute(insert(imports).values(program_id=program_id, id=import_id, at=at, undo=json.dumps(saved)))
    return import_id


def list_recent(connection: Connection, program_id: int, *, at: datetime) -> Sequence[Any]:
    """Return the `id` and the time (`at`) of the imports that can be undone, the newest first."""
    row = imports.c
    mine = (row.program_id == program_id, row.at >= at - LASTS)
    return connection.execute(select(row.id, row.at).where(*mine).order_by(row.id.desc())).all()


def undo(connection: Connection, program_id: int, import_id: int, *, actor: Actor, at: datetime) -> None:
    """Delete what an import added. Raises NotFound, ValidationError if something has been built on it since."""
    row = imports.c
    mine = (row.program_id == program_id, row.id == import_id, row.at >= at - LASTS)
    stored = connection.execute(delete(imports).where(*mine).returning(row.undo)).scalar()
    if stored is None:
        raise NotFound("An import can be undone within an hour.")
    saved = json.loads(stored)
    added = saved["added"]
    if _built_on(connection, program_id, added) != saved["built"]:
        raise ValidationError("The import cannot be undone: its partners, customers or commissions have changed since.")
    for column, kind in ADDED:
        for each in matching(program_id, column, added[kind]):
            connection.execute(delete(column.table).where(each))
    buyer = customers.c  # who was there before, and no buyer any more if only the import's sales made them one
    has_bought = (
        select(sales.c.id).where(sales.c.program_id == buyer.program_id, sales.c.customer_id == buyer.id).exists()
    )
    status = case((buyer.signup_at.is_(None), CustomerStatus.PROVISIONAL), else_=CustomerStatus.LEAD)
    for each in matching(program_id, buyer.id, added["buyers"]):
        connection.execute(update(customers).where(each, ~has_bought).values(first_purchase_at=None, status=status))
    steps = [
        Increment(program_id, partner_id, date.fromisoformat(day), **{name: count})
        for partner_id, day, name, count in saved["totals"]
    ]
    rollups.add(connection, steps)
    audit.write(connection, program_id, [audit.Change("program.undo_import", import_id)], actor=actor, at=at)


def _built_on(connection: Connection, program_id: int, added: Added) -> dict[str, int]:
    """Return how many rows name what an import added, and how its commissions stand."""
    counts: Counter[str] = Counter()
    for column, kind in BUILT_ON:
        for mine in matching(program_id, column, added[kind]):
            counts[f"{column.table.name} of {kind}"] += connection.execute(
                select(func.count()).where(mine)
            ).scalar_one()
    for mine in matching(program_id, commissions.c.id, added["commissions"]):
        counts.update(connection.execute(select(commissions.c.status).where(mine)).scalars())
    return dict(counts)
