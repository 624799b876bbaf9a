"""Raises flags: what a person has to review before the commissions that it concerns are approved or paid."""

import json
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from storage.engine import audit, ids
from storage.engine.audit import Actor, By, Change
from storage.engine.database import insert_for
from storage.rules.fraud.flag import Finding, FlagKind, FlagState
from storage.tables import flags
from storage.tracking.customers import Customer

REVIEW = Actor("service", "review", "Fraud review")


def possible_duplicate(sale: Any, customer: Customer, payment: str, *, at: datetime, earns: bool) -> Finding:
    """Return what holds the commission of a sale (id, transaction_id) that may be a payment of the account, too."""
    evidence = {"transaction_id": sale.transaction_id, "payment": payment}
    held = (customer.id, sale.id if earns else None)
    return Finding(FlagKind.POSSIBLE_DUPLICATE, f"sale:{sale.id}", customer.partner_id, at, evidence, *held)


def raise_each(
    connection: Connection, found: Iterable[tuple[int, Finding]], *, at: datetime, dismissed_by: str | None = None
) -> int:
    """Flag the findings about programs that were never flagged, log each, and return how many there were."""
    ordered = sorted(found, key=lambda each: (each[0], each[1].kind, each[1].subject))
    # A person may have decided already.
    decided = {"state": FlagState.DISMISSED, "decided_at": at, "decided_by": dismissed_by}
    state = decided if dismissed_by else {"state": FlagState.OPEN}
    rows: list[dict[str, Any]] = [
        {"program_id": program_id, "id": flag_id, "created_at": at, **state}
        | (finding._asdict() | {"evidence": json.dumps(finding.evidence)})
        for (program_id, finding), flag_id in zip(ordered, ids.after(at, len(ordered)), strict=True)
    ]
    if not rows:
        return 0
    once = insert_for(connection)(flags).values(rows).on_conflict_do_nothing().returning(flags.c.id)
    raised = set(connection.execute(once).scalars())
    new = [row for row in rows if row["id"] in raised]
    new.reverse()
    first = {(row["program_id"], row["kind"], row["partner_id"], row["incident"] or row["id"]): row for row in new}
    logged = [(row["program_id"], Change("flag.raise", row["id"], "kind", None, row["kind"])) for row in first.values()]
    audit.write_each(connection, logged, by=By(REVIEW, at))
    return len(new)
