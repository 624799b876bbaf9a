"""Decisions on commissions: reviewed, approved, rejected or paid, an approval undone; and what waits for a person."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from operator import attrgetter
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Table, func, select, update

from storage.engine import audit, ids
from storage.engine.audit import By, Change
from storage.engine.statements import read_statement
from storage.lists.balances import to_pay_cents
from storage.lists.commissions import COMMISSIONS, Commission, net_cents
from storage.lists.declaration import ListScope
from storage.lists.find import rows
from storage.lists.held import is_first, is_held, is_held_by, kinds_by_commission
from storage.management import agent_caps, fraud_review, payout_sending, payouts
from storage.management.plans import needs_action
from storage.rules import errors
from storage.rules.attribution import ApplicationState
from storage.rules.commission import MAY_BECOME, CommissionStatus
from storage.rules.errors import NotFound, ServiceError, ValidationError
from storage.rules.fraud.flag import FlagState
from storage.rules.settlement import CustomerStatus, Settlement
from storage.tables import commissions, customers, flags, partners, plans, sale_questions
from storage.tables import partner_applications as applied
from storage.tables.columns import from_millis, to_millis
from storage.tracking import corrections

REVIEWED = {CommissionStatus.APPROVED, CommissionStatus.PAID}
MILLISECOND = timedelta(milliseconds=1)
_APPROVED = read_statement("approved_together")
WITHIN = timedelta(hours=1)
MOST_TOGETHER = 1_000  # commissions that a member approves at once


class Waiting(NamedTuple):
    number: int = 0
    cents: int = 0  # in the program's currency


class PendingWork(NamedTuple):
    to_pay: Waiting  # partners
    ready: Waiting  # pending commissions whose hold is over, without those that open flags hold
    flags: int
    held: Waiting
    provisional_leads: int
    questions: int = 0  # of partners about missing sales, without an answer
    applicants: int = 0
    plans: int = 0  # that wait for approval, or could not be applied at their time in the last 7 days


def decide(
    connection: Connection, /, program_id: int, commission_id: int, status: CommissionStatus, **about: Any
) -> Commission | ServiceError:
    """Decide on one commission; return it, or its error: what is not raised commits the flags of the review."""
    return decide_each(connection, program_id, [commission_id], status, **about)[commission_id]


def decide_each(
    connection: Connection,
    program_id: int,
    commission_ids: Sequence[int],
    status: CommissionStatus,
    *,
    override_hold_reason: str | None = None,
    flag: str | None = None,  # whose confirmation rejects them
    by: By,
) -> dict[int, Any]:
    """Review commissions and move them to a status, many by as few statements as one; return each or its error."""
    if status in REVIEWED:
        fraud_review.flag_before_decision(connection, program_id, commission_ids, at=by.at)
    found = _lock(connection, program_id, commission_ids)
    may_be_held = status != CommissionStatus.APPROVED or (override_hold_reason is not None and not by.actor.is_agent)
    rejected = _obstacles(connection, program_id, found, status, may_be_held=may_be_held, by=by)
    if changed := [each for each in found if each.id not in rejected]:
        _become(connection, program_id, changed, status, by=by)
        entries = [Change("commission.decide", each.id, "status", each.status, status) for each in changed]
        why = ("override_hold_reason", None, override_hold_reason)
        early = [each.id for each in changed if status == CommissionStatus.APPROVED and by.at < each.hold_until]
        entries += [Change("commission.decide", each, *why) for each in early]
        entries += [Change("commission.decide", each.id, "flag", None, flag) for each in changed if flag is not None]
        audit.write(connection, program_id, sorted(entries, key=attrgetter("subject_id")), by=by)
    results = {each: NotFound("The program has no such commission.") for each in sorted(set(commission_ids))} | rejected
    decided = rows(connection, COMMISSIONS, ListScope(program_id, by.at), [each.id for each in changed])
    return results | {each.id: each for each in decided}


def _become(
    connection: Connection, program_id: int, changed: Sequence[Any], status: CommissionStatus, *, by: By
) -> None:
    """Give commissions a status, with what it does to the ledger."""
    if status == CommissionStatus.PAID:
        payout_sending.pay_at_once(connection, program_id, changed, by=by)
        return
    values: dict[str, Any] = {"status": status}
    if status == CommissionStatus.APPROVED:
        values["approved_by_key_id"] = int(by.actor.id) if by.actor.is_agent else None
    mine = (commissions.c.program_id == program_id, commissions.c.id.in_([each.id for each in changed]))
    connection.execute(update(commissions).where(*mine).values(values))
    if status == CommissionStatus.REJECTED:
        corrections.reject(connection, changed, at=by.at)


def _lock(connection: Connection, program_id: int, commission_ids: Sequence[int]) -> Sequence[Any]:
    """Lock and return commissions; their partners' accounts, too, each in the order in which all transactions do."""
    row, account = commissions.c, partners.c
    mine = (row.program_id == program_id, row.id.in_(commission_ids))
    found = connection.execute(select(commissions).where(*mine).order_by(row.id).with_for_update()).all()
    theirs = (account.program_id == program_id, account.id.in_({each.partner_id for each in found}))
    locked = select(account.id).where(*theirs).order_by(account.id)
    connection.execute(locked.with_for_update(key_share=True))  # customers refer to them meanwhile
    return found


def millis_of(decided_at: datetime) -> int:
    """Return the number by which a later request names approvals: the milliseconds of their time."""
    return to_millis(decided_at)


def undo_approvals(connection: Connection, program_id: int, *, millis: int, by: By) -> int:
    """Undo the approvals that the actor made together, for an hour; return how many. What was paid since stays paid."""
    decided_at = from_millis(millis)
    if not timedelta(0) <= by.at - decided_at <= WITHIN:
        raise ValidationError("An approval can be undone within an hour. Later, reject the commissions instead.")
    times = {"first_id": ids.first(decided_at), "since": decided_at, "until": decided_at + MILLISECOND}
    theirs = {"program_id": program_id, "actor_type": by.actor.type, "actor_id": by.actor.id, "most": MOST_TOGETHER}
    approved = connection.execute(_APPROVED, theirs | times).scalars().all()
    _lock(connection, program_id, approved)
    row = commissions.c
    mine = (row.program_id == program_id, row.id.in_(approved), row.status == CommissionStatus.APPROVED)
    pending = update(commissions).where(*mine).values(status=CommissionStatus.PENDING, approved_by_key_id=None)
    undone = connection.execute(pending.returning(row.id)).scalars().all()
    before, after = CommissionStatus.APPROVED, CommissionStatus.PENDING
    entries = [Change("commission.decide", each, "status", before, after) for each in sorted(undone)]
    audit.write(connection, program_id, entries, by=by)
    return len(undone)


def _obstacles(
    connection: Connection,
    program_id: int,
    found: Sequence[Any],
    status: CommissionStatus,
    *,
    may_be_held: bool,
    by: By,
) -> dict[int, ServiceError]:
    """Return the error of each commission that may not change so, and count what an agent key may decide."""
    flagged = kinds_by_commission(connection, program_id, [each.id for each in found]) if status in REVIEWED else {}
    is_paid = status == CommissionStatus.PAID
    rejected = dict[int, ServiceError]()
    unpayable = payouts.obstacles(connection, program_id, found, actor=by.actor) if is_paid else {}
    for each in found:
        if status not in MAY_BECOME[each.status]:
            wrong = f"A commission that is {each.status} cannot become {status}"
            rejected[each.id] = ValidationError.of("status", wrong)
        elif each.id in unpayable:
            rejected[each.id] = unpayable[each.id]
        elif not may_be_held and by.at < each.hold_until:
            message = f"The commission is on hold until {each.hold_until:%Y-%m-%d %H:%M} UTC."
            rejected[each.id] = errors.CommissionOnHold(message)
        elif kinds := flagged.get(each.id):
            message = f"The commission is held for review: {', '.join(kinds)}."
            rejected[each.id] = errors.CommissionFlagged(message, flags=kinds)
    if by.actor.is_agent and status in REVIEWED:
        free = [each for each in found if each.id not in rejected]
        rejected |= agent_caps.obstacles(connection, program_id, free, status, by=by)
    return rejected


def get_pending_work(connection: Connection, program_id: int, *, at: datetime) -> PendingWork:
    """Return what waits in a program."""
    earned = commissions.c
    row = customers.c
    mine = commissions.c.program_id == program_id
    is_ready = (earned.status == CommissionStatus.PENDING, earned.hold_until <= at, ~is_held())
    provisional = (row.status == CustomerStatus.PROVISIONAL, row.settlement == Settlement.PROVISIONAL)
    flag_count = _count(connection, program_id, flags, flags.c.state == FlagState.OPEN, is_first())
    due = select(to_pay_cents().label("cents")).where(partners.c.program_id == program_id).subquery()
    to_pay = select(func.count(), func.coalesce(func.sum(due.c.cents), 0)).where(due.c.cents > 0)
    return PendingWork(
        to_pay=Waiting(*map(int, connection.execute(to_pay).one())),
        ready=count_worth(connection, mine, *is_ready),
        flags=flag_count,
        held=count_worth(connection, mine, is_held(flags.c.state == FlagState.OPEN)) if flag_count else Waiting(),
        provisional_leads=_count(connection, program_id, customers, *provisional),
        questions=_count(connection, program_id, sale_questions, sale_questions.c.answered_at.is_(None)),
        applicants=_count(connection, program_id, applied, applied.c.state == ApplicationState.WAITING),
        plans=_count(connection, program_id, plans, needs_action(at)),
    )


def _count(connection: Connection, program_id: int, table: Table, *conditions: ColumnElement[bool]) -> int:
    rows = select(func.count()).select_from(table).where(table.c.program_id == program_id, *conditions)
    return connection.execute(rows).scalar_one()


def count_held(connection: Connection, program_id: int, flag_ids: Sequence[int]) -> Waiting:
    """Return what these flags hold, each commission once."""
    return count_worth(connection, commissions.c.program_id == program_id, is_held_by(*flag_ids))


def count_worth(connection: Connection, *conditions: ColumnElement[bool]) -> Waiting:
    """Return how many commissions match, and what they are worth."""
    worth = select(func.count(), func.coalesce(func.sum(net_cents()), 0)).select_from(commissions)
    return Waiting(*map(int, connection.execute(worth.where(*conditions)).one()))
