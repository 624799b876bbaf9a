"""Flags: signs of fraud, raised once for each finding, listed, and asked before a commission is approved or paid."""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, select, tuple_

from storage.engine import audit, ids
from storage.engine.audit import Actor, Change
from storage.engine.database import insert_for
from storage.lists.flags import holding
from storage.rules.errors import CommissionFlagged
from storage.rules.fraud.flag import Finding, FlagState
from storage.tables import flags

REVIEW = Actor("service", "review", "Fraud review")


def unknown(connection: Connection, program_id: int, findings: Sequence[Finding]) -> list[Finding]:
    """Return the findings that were never flagged, whatever became of the flag."""
    if not findings:
        return []
    named = tuple_(flags.c.kind, flags.c.subject).in_([(each.kind, each.subject) for each in findings])
    known = connection.execute(
        select(flags.c.kind, flags.c.subject).where(flags.c.program_id == program_id, named)
    ).all()
    flagged = {(row.kind, row.subject) for row in known}
    return [each for each in findings if (each.kind, each.subject) not in flagged]


def raise_flags(connection: Connection, program_id: int, findings: Sequence[Finding], *, at: datetime) -> int:
    """Flag the findings that were never flagged, log each, and return how many there were."""
    raised: list[Change] = []
    for finding, flag_id in zip(findings, ids.after(at, len(findings)), strict=True):
        values = finding._asdict() | {"evidence": json.dumps(finding.evidence), "state": FlagState.OPEN}
        row = insert_for(connection)(flags).values(program_id=program_id, id=flag_id, created_at=at, **values)
        once = row.on_conflict_do_nothing(index_elements=["program_id", "kind", "subject"]).returning(flags.c.id)
        if connection.execute(once).scalar() is not None:
            raised.append(Change("flag.raise", flag_id, "kind", None, finding.kind))
    audit.write(connection, program_id, raised, actor=REVIEW, at=at)
    return len(raised)


def require_unflagged(connection: Connection, commission: Any) -> None:
    """Raise CommissionFlagged if a flag holds the commission."""
    kinds = holding(connection, commission.program_id, [commission]).get(commission.id)
    if kinds:
        raise CommissionFlagged(f"The commission is held for review: {', '.join(kinds)}.", flags=kinds)
