"""Undo an approval: commissions that a member has just approved are pending again. A payment or rejection is final."""

import json
from datetime import datetime, timedelta

from sqlalchemy import BigInteger, Connection, cast, select, update

from storage.engine import audit, pagination
from storage.engine.audit import Actor, Change
from storage.rules.commission import CommissionStatus
from storage.rules.errors import ValidationError
from storage.rules.periods.period import Span
from storage.tables import audit_entries, commissions
from storage.tables.columns import from_millis, to_millis

MILLISECOND = timedelta(milliseconds=1)
WITHIN = timedelta(hours=1)
MOST_TOGETHER = 1_000  # commissions that a member approves at once


def millis_of(decided_at: datetime) -> int:
    """Return the number by which a later request names approvals: the milliseconds of their time."""
    return to_millis(decided_at)


def undo(connection: Connection, program_id: int, *, millis: int, actor: Actor, at: datetime) -> int:
    """Undo the approvals that the actor made together; return how many. What was paid since stays paid.

    Raises ValidationError for approvals of over an hour ago.
    """
    decided_at = from_millis(millis)
    if not timedelta(0) <= at - decided_at <= WITHIN:
        raise ValidationError("An approval can be undone within an hour. Later, reject the commissions instead.")
    entry, row = audit_entries.c, commissions.c
    together = pagination.within(entry.id, entry.at, Span(decided_at, decided_at + MILLISECOND))
    decided = (entry.action == "commission.decide", entry.field == "status")
    approved = (*decided, entry.after == json.dumps(CommissionStatus.APPROVED))
    theirs = (entry.actor_type == actor.type, entry.actor_id == actor.id)
    named = select(cast(entry.subject_id, BigInteger)).where(entry.program_id == program_id, *together, *approved)
    ids = connection.execute(named.where(*theirs).limit(MOST_TOGETHER)).scalars().all()
    mine = (row.program_id == program_id, row.id.in_(ids), row.status == CommissionStatus.APPROVED)
    pending = update(commissions).where(*mine).values(status=CommissionStatus.PENDING, approved_by_key_id=None)
    undone = connection.execute(pending.returning(row.id)).scalars().all()
    before, after = CommissionStatus.APPROVED, CommissionStatus.PENDING
    entries = [Change("commission.decide", each, "status", before, after) for each in sorted(undone)]
    audit.write(connection, program_id, entries, actor=actor, at=at)
    return len(undone)
