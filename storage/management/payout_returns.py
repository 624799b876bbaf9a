"""Payouts that were sent and were not right: reopened within an hour, or a line corrected by a new one later."""

from datetime import datetime

from sqlalchemy import Connection, case, func, insert, literal, select, update
from sqlalchemy.exc import IntegrityError

from storage.engine import audit, ids
from storage.engine.audit import Actor, Change
from storage.lists.commissions import net_cents
from storage.lists.declaration import ListScope
from storage.lists.find import get
from storage.lists.payouts import PAYOUT_LINES, PAYOUTS, Payout, PayoutLine
from storage.management import payout_sending
from storage.management import payouts as runs
from storage.rules.commission import CommissionStatus
from storage.rules.errors import NotFound, PayoutOpen, PayoutSent, ValidationError
from storage.rules.payout import REOPENED_WITHIN, LineState, PayoutState
from storage.tables import commissions, ledger_entries, payout_items, payout_lines, payouts
from storage.tables.columns import Timestamp

TOO_LATE = "A payout can be reopened within an hour. Later, correct its lines."
CORRECTED = "A line of the payout was corrected, so it cannot be reopened."
_line = payout_lines.c


def reopen(connection: Connection, program_id: int, payout_id: int, *, actor: Actor, at: datetime) -> Payout:
    """Make a payout that was sent within the hour a draft again: its commissions are no longer paid.

    Raises NotFound, PayoutSent after the hour, PayoutOpen while there is another draft.
    """
    payout_sending.lock_all(connection, program_id, payout_id)
    run = runs.lock(connection, program_id, payout_id, PayoutState.SENT, actor=actor)
    of_lines = (_line.program_id == program_id, _line.payout_id == payout_id)
    if at - run.sent_at > REOPENED_WITHIN:
        raise PayoutSent(TOO_LATE)
    if connection.execute(select(_line.id).where(*of_lines, _line.state == LineState.CORRECTION)).first():
        raise PayoutSent(CORRECTED)
    mine = (payouts.c.program_id == program_id, payouts.c.id == payout_id)
    try:
        connection.execute(update(payouts).where(*mine).values(state=PayoutState.DRAFT, reopened_at=at))
    except IntegrityError:
        raise PayoutOpen from None
    _take_back(connection, program_id, payout_id, at=at)
    item, earned = payout_items.c, commissions.c
    live = select(item.commission_id).where(item.program_id == program_id, item.payout_id == payout_id, item.is_live)
    status = case((net_cents() == 0, CommissionStatus.REVERSED), else_=CommissionStatus.APPROVED)
    paid = update(commissions).where(earned.program_id == program_id, earned.id.in_(live))
    connection.execute(paid.values(status=status, paid_at=None))
    lines = update(payout_lines).where(*of_lines, _line.state == LineState.PAID)
    connection.execute(lines.values(state=LineState.OPEN))
    audit.write(connection, program_id, [Change("payout.reopen", payout_id)], actor=actor, at=at)
    return get(connection, PAYOUTS, ListScope(program_id, at), payout_id)


def _take_back(connection: Connection, program_id: int, payout_id: int, *, at: datetime) -> None:
    """Append the opposite of a run's entries, each pointing at what it corrects."""
    entry = ledger_entries.c
    key = (entry.partner_id, entry.commission_id, entry.kind)
    sums = (func.sum(entry.amount_cents).label("cents"), func.max(entry.id).label("newest_id"))
    mine = (entry.program_id == program_id, entry.payout_id == payout_id)
    each = select(*key, *sums).where(*mine).group_by(*key).having(func.sum(entry.amount_cents) != 0).subquery()
    last = connection.execute(select(func.max(entry.id)).where(entry.program_id == program_id)).scalar() or 0
    number = connection.execute(select(func.count()).select_from(each)).scalar_one()
    first = ids.after(at, number, past=last).start
    new_id = literal(first - 1) + func.row_number().over(order_by=each.c.newest_id)
    columns = (new_id, each.c.partner_id, each.c.commission_id, literal(payout_id), each.c.kind, -each.c.cents)
    values = select(literal(program_id), *columns, literal(at, Timestamp), each.c.newest_id)
    connection.execute(insert(ledger_entries).from_select((*payout_sending.ENTRY, "corrects_id"), values))


def correct_line(
    connection: Connection,
    program_id: int,
    payout_id: int,
    line_id: int,
    *,
    reason: str,
    actor: Actor,
    at: datetime,
) -> PayoutLine:
    """Take back what a line paid, as its payment came back: the amount is in the partner's balance again.

    The new line says why. Raises NotFound, ValidationError for a line that paid nothing or is corrected already.
    """
    payout_sending.lock_all(connection, program_id, payout_id)
    runs.lock(connection, program_id, payout_id, PayoutState.SENT, actor=actor)
    mine = (_line.program_id == program_id, _line.payout_id == payout_id)
    line = connection.execute(select(payout_lines).where(*mine, _line.id == line_id)).one_or_none()
    if line is None:
        raise NotFound("The payout has no such line.")
    corrected = connection.execute(select(_line.id).where(*mine, _line.corrects_id == line_id)).first()
    if line.state != LineState.PAID or not line.to_pay_cents or corrected:
        raise ValidationError("Only a line that paid something can be corrected, once.")
    [new_id] = ids.after(at, 1)
    kept = {name: getattr(line, name) for name in ("program_id", "payout_id", "partner_id", "method", "method_masked")}
    back = {
        name: -getattr(line, name) for name in ("approved_cents", "set_off_cents", "adjusted_cents", "to_pay_cents")
    }
    about = {"id": new_id, "state": LineState.CORRECTION, "commissions": 0, "failure": reason, "corrects_id": line_id}
    connection.execute(insert(payout_lines).values(**kept, **back, **about, created_at=at))
    returned = (line.partner_id, None, line.to_pay_cents)
    payout_sending.add_set_offs(connection, program_id, payout_id, [returned], at=at)
    change = Change("payout.correct", payout_id, after={"line_id": line_id, "reason": reason})
    audit.write(connection, program_id, [change], actor=actor, at=at)
    return get(connection, PAYOUT_LINES, ListScope(program_id, at), new_id)
