"""Decisions on commissions: reviewed for signs of fraud, approved, rejected or paid; an approval can be undone."""

import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import BigInteger, Connection, and_, cast, select, update

from storage.engine import audit
from storage.engine.audit import Actor, Change
from storage.engine.cursors import within
from storage.engine.group_commit import run_alone
from storage.lists.commissions import COMMISSIONS, Commission, net_cents
from storage.lists.declaration import ListScope
from storage.lists.find import get
from storage.lists.held import kinds_by_commission
from storage.management import agent_caps, fraud_review
from storage.rules.commission import MAY_BECOME, CommissionStatus
from storage.rules.errors import (
    CommissionFlagged,
    CommissionOnHold,
    FieldError,
    NotFound,
    OwnerRequired,
    SecondKeyRequired,
    ServiceError,
    ValidationError,
)
from storage.rules.fraud.flag import FlagState
from storage.rules.periods.period import Span
from storage.tables import audit_entries, commissions, flags, partners
from storage.tables.columns import from_millis, to_millis
from storage.tracking import corrections, payouts, rollups

REVIEWED = {CommissionStatus.APPROVED, CommissionStatus.PAID}
MILLISECOND = timedelta(milliseconds=1)
WITHIN = timedelta(hours=1)
MOST_TOGETHER = 1_000  # commissions that a member approves at once


def decide(
    connection: Connection,
    program_id: int,
    commission_id: int,
    status: CommissionStatus,
    *,
    actor: Actor,
    at: datetime,
    override_hold_reason: str | None = None,
) -> Commission | ServiceError:
    """Review a commission, then approve, reject or pay it, log it, and return it, or the error of `change_status`.

    The error is returned, not raised: the flags that the review raised are committed, and then the caller gets it.
    With a reason an owner approves the commission while it is on hold; an agent key cannot.
    """
    reason, chosen = override_hold_reason, [commission_id]
    decided = decide_each(connection, program_id, chosen, status, actor=actor, at=at, override_hold_reason=reason)
    return decided[commission_id]


def decide_each(
    connection: Connection,
    program_id: int,
    commission_ids: Sequence[int],
    status: CommissionStatus,
    *,
    actor: Actor,
    at: datetime,
    override_hold_reason: str | None = None,
) -> dict[int, Commission | ServiceError]:
    """Move many commissions to one status; each gets its own result, and an error in one does not stop the others."""
    if status in REVIEWED:
        found = fraud_review.before_decision(connection, program_id, commission_ids)
        fraud_review.raise_flags(connection, program_id, found, at=at)
    about = {"actor": actor, "at": at, "override_hold_reason": override_hold_reason}
    lock(connection, program_id, commission_ids)
    with rollups.gathered(connection):
        return {
            commission_id: run_alone(connection, record, program_id, commission_id, status, **about)
            for commission_id in sorted(set(commission_ids))
        }


def lock(connection: Connection, program_id: int, commission_ids: Sequence[int]) -> None:
    """Lock commissions, then their partners' accounts, each in the order in which every transaction locks them."""
    row = commissions.c
    mine = (row.program_id == program_id, row.id.in_(commission_ids))
    named = connection.execute(select(row.partner_id).where(*mine).order_by(row.id).with_for_update()).scalars()
    account = partners.c
    theirs = (account.program_id == program_id, account.id.in_(set(named)))
    connection.execute(select(account.id).where(*theirs).order_by(account.id).with_for_update())


def record(
    connection: Connection,
    program_id: int,
    commission_id: int,
    status: CommissionStatus,
    *,
    actor: Actor,
    at: datetime,
    override_hold_reason: str | None = None,
) -> Commission:
    """Change and log a commission's status, without a review, and return it; raises the errors of `change_status`."""
    if status == CommissionStatus.PAID and not actor.may_pay:
        raise OwnerRequired("Only an owner or a member with the role finance may mark a commission as paid.")
    overrides = override_hold_reason is not None and not actor.is_agent
    before = change_status(connection, program_id, commission_id, status, actor=actor, at=at, overrides_hold=overrides)
    commission = get(connection, COMMISSIONS, ListScope(program_id, at), commission_id)
    entries = [Change("commission.decide", commission_id, "status", before, status)]
    if status == CommissionStatus.APPROVED and at < commission.hold_until:
        entries.append(Change("commission.decide", commission_id, "override_hold_reason", None, override_hold_reason))
    audit.write(connection, program_id, entries, actor=actor, at=at)
    return commission


def change_status(
    connection: Connection,
    program_id: int,
    commission_id: int,
    status: CommissionStatus,
    *,
    at: datetime,
    actor: Actor | None = None,
    overrides_hold: bool = False,
) -> CommissionStatus:
    """Move a commission to a status, without a review or a log entry (for imports), and return the one it had.

    A rejection takes back what the ledger holds; a payment settles it by a payout.

    Raises NotFound for a commission of another program, ValidationError for a transition that is not allowed,
    CommissionOnHold for an approval before `hold_until`, CommissionFlagged for one that a sign of fraud holds,
    SecondKeyRequired where the owner wants two keys, and for the key that dismissed what held the commission; OverCap
    for an agent key beyond the caps of a day.
    """
    mine = (commissions.c.program_id == program_id, commissions.c.id == commission_id)
    commission = connection.execute(select(commissions).where(*mine).with_for_update()).one_or_none()
    if commission is None:
        raise NotFound("The program has no such commission.")
    before = CommissionStatus(commission.status)
    if status not in MAY_BECOME[before]:
        field = FieldError("status", f"A commission that is {before} cannot become {status}")
        raise ValidationError(fields=[field])
    _require_free(connection, commission, status, until=None if overrides_hold else at)
    key_id = int(actor.id) if actor and actor.is_agent else None
    if key_id is not None and status in REVIEWED:
        _require_key(connection, commission, status, key_id, at=at)
    values: dict[str, Any] = {"status": status, "paid_at": at if status == CommissionStatus.PAID else None}
    if status == CommissionStatus.APPROVED:
        values["approved_by_key_id"] = key_id
    connection.execute(update(commissions).where(*mine).values(values))
    if status == CommissionStatus.REJECTED:
        corrections.reject(connection, commission, at=at)
    elif status == CommissionStatus.PAID:
        payouts.record(connection, commission, at=at)
    return before


def millis_of(decided_at: datetime) -> int:
    """Return the number by which a later request names approvals: the milliseconds of their time."""
    return to_millis(decided_at)


def undo_approvals(connection: Connection, program_id: int, *, millis: int, actor: Actor, at: datetime) -> int:
    """Undo the approvals that the actor made together; return how many. What was paid since stays paid.

    Raises ValidationError for approvals of over an hour ago.
    """
    decided_at = from_millis(millis)
    if not timedelta(0) <= at - decided_at <= WITHIN:
        raise ValidationError("An approval can be undone within an hour. Later, reject the commissions instead.")
    entry, row = audit_entries.c, commissions.c
    together = within(entry.id, entry.at, Span(decided_at, decided_at + MILLISECOND))
    decided = (entry.action == "commission.decide", entry.field == "status")
    approved = (*decided, entry.after == json.dumps(CommissionStatus.APPROVED))
    theirs = (entry.actor_type == actor.type, entry.actor_id == actor.id)
    named = select(cast(entry.subject_id, BigInteger)).where(entry.program_id == program_id, *together, *approved)
    ids = connection.execute(named.where(*theirs).limit(MOST_TOGETHER)).scalars().all()
    lock(connection, program_id, ids)
    mine = (row.program_id == program_id, row.id.in_(ids), row.status == CommissionStatus.APPROVED)
    pending = update(commissions).where(*mine).values(status=CommissionStatus.PENDING, approved_by_key_id=None)
    undone = connection.execute(pending.returning(row.id)).scalars().all()
    before, after = CommissionStatus.APPROVED, CommissionStatus.PENDING
    entries = [Change("commission.decide", each, "status", before, after) for each in sorted(undone)]
    audit.write(connection, program_id, entries, actor=actor, at=at)
    return len(undone)


def _require_key(
    connection: Connection, commission: Any, status: CommissionStatus, key_id: int, *, at: datetime
) -> None:
    """Raise SecondKeyRequired or OverCap for what an agent key may not approve or pay, and count what it may."""
    program_id = commission.program_id
    one_key = status == CommissionStatus.PAID and key_id == commission.approved_by_key_id
    if one_key and agent_caps.get_caps(connection, program_id).two_keys_to_pay:
        raise SecondKeyRequired
    released = and_(flags.c.state == FlagState.DISMISSED, flags.c.decided_by_key_id == key_id)
    if kinds_by_commission(connection, program_id, [commission.id], released):
        raise SecondKeyRequired("This key dismissed a flag that held the commission, so another key has to decide.")
    worth = select(net_cents()).where(commissions.c.program_id == program_id, commissions.c.id == commission.id)
    (over,) = agent_caps.count_each(connection, program_id, status, [connection.execute(worth).scalar_one()], at=at)
    if over:
        raise over


def _require_free(connection: Connection, commission: Any, status: CommissionStatus, *, until: datetime | None) -> None:
    """Raise CommissionOnHold or CommissionFlagged for what may not be approved or paid `until` now (None: any time)."""
    if status == CommissionStatus.APPROVED and until is not None and until < commission.hold_until:
        raise CommissionOnHold(f"The commission is on hold until {commission.hold_until:%Y-%m-%d %H:%M} UTC.")
    if status == CommissionStatus.PAID:
        payouts.require_live(connection, commission.program_id)
    held = kinds_by_commission(connection, commission.program_id, [commission.id]) if status in REVIEWED else {}
    for kinds in held.values():
        raise CommissionFlagged(f"The commission is held for review: {', '.join(kinds)}.", flags=kinds)
