"""Takes an import back within an hour, as long as nothing has been built on it."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Connection, Table, case, delete, func, insert, select, update

from storage.engine import audit, ids
from storage.engine.audit import Actor
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
AT_ONCE = 500  # values in a condition
ADDED = (  # what an import adds, in an order in which no row refers to a deleted one
    *((flags, "customer_id", "customers"), (flags, "partner_id", "partners")),
    *((ledger_entries, "commission_id", "commissions"), (commissions, "id", "commissions")),
    *((sales, "id", "sales"), (leads, "customer_id", "customers"), (payment_customers, "click_id", "clicks")),
    *((customers, "id", "customers"), (clicks, "click_id", "clicks"), (partners, "id", "partners")),
)
BUILT_ON = (
    *(
        (clicks, "partner_id", "partners"),
        (customers, "partner_id", "partners"),
        (commissions, "partner_id", "partners"),
    ),
    *((ledger_entries, "partner_id", "partners"), (ledger_entries, "commission_id", "commissions")),
    *((sales, "customer_id", "customers"), (sales, "customer_id", "buyers"), (leads, "customer_id", "customers")),
    (refunds, "sale_id", "sales"),
)
Added = dict[str, list[Any]]
Which = tuple[Table, str, str]


def save(connection: Connection, program_id: int, added: Added, steps: Iterable[Increment], *, at: datetime) -> int:
    """Save what an import added, by the names in ADDED, and return its id; forget the imports of over an hour ago."""

    def customers_of(which: Which, customer_id: Any) -> set[int]:
        return {
            row[0] for each in _conditions(program_id, added, which) for row in _select(connection, each, customer_id)
        }

    new = customers_of((customers, "click_id", "clicks"), customers.c.id)
    buyers = customers_of((sales, "id", "sales"), sales.c.customer_id) - new
    added |= {"customers": sorted(new), "buyers": sorted(buyers)}
    totals: Counter[tuple[Any, ...]] = Counter()
    for _, partner_id, day, *counts in steps:
        for name, count in zip(COUNTS, counts, strict=True):
            totals[partner_id, day.isoformat(), name] -= count
    built, totalled = _built_on(connection, program_id, added), [[*key, count] for key, count in totals.items()]
    row = imports.c
    connection.execute(delete(imports).where(row.program_id == program_id, row.at < at - LASTS))
    [import_id] = ids.after(at, 1)
    saved = json.dumps({"added": added, "built": built, "totals": totalled})
    connection.execute(insert(imports).values(program_id=program_id, id=import_id, at=at, undo=saved))
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
    for which in ADDED:
        for condition in _conditions(program_id, added, which):
            connection.execute(delete(which[0]).where(*condition))
    _forget_purchases(connection, program_id, added)
    steps = [
        Increment(program_id, partner_id, date.fromisoformat(day), **{name: count})
        for partner_id, day, name, count in saved["totals"]
    ]
    rollups.add(connection, steps)
    audit.write(connection, program_id, [audit.Change("program.undo_import", import_id)], actor=actor, at=at)


def _conditions(program_id: int, added: Added, which: Which) -> Iterator[Sequence[ColumnElement[bool]]]:
    """Yield conditions for the rows of a table that name what an import added."""
    table, column, kind = which
    for start in range(0, len(added[kind]), AT_ONCE):
        yield table.c.program_id == program_id, table.c[column].in_(added[kind][start : start + AT_ONCE])


def _select(connection: Connection, condition: Sequence[ColumnElement[bool]], what: Any) -> Iterable[Any]:
    return connection.execute(select(what).where(*condition))


def _built_on(connection: Connection, program_id: int, added: Added) -> dict[str, int]:
    """Return how many rows name what an import added, and how its commissions stand."""
    counts: Counter[str] = Counter()
    for which in BUILT_ON:
        for condition in _conditions(program_id, added, which):
            counts[f"{which[0].name} of {which[2]}"] += sum(
                row[0] for row in _select(connection, condition, func.count())
            )
    for condition in _conditions(program_id, added, (commissions, "id", "commissions")):
        counts.update(row.status for row in _select(connection, condition, commissions.c.status))
    return dict(counts)


def _forget_purchases(connection: Connection, program_id: int, added: Added) -> None:
    """Let customers who were there before be no buyers any more, if only the import's sales made them some."""
    row = customers.c
    has_bought = select(sales.c.id).where(sales.c.program_id == row.program_id, sales.c.customer_id == row.id).exists()
    before = case((row.signup_at.is_(None), CustomerStatus.PROVISIONAL), else_=CustomerStatus.LEAD)
    for condition in _conditions(program_id, added, (customers, "id", "buyers")):
        changed = update(customers).where(*condition, ~has_bought)
        connection.execute(changed.values(first_purchase_at=None, status=before))
