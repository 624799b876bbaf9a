"""Payouts that were sent and were not right: reopened within an hour, or a line corrected by a new one later."""

from datetime import datetime

from sqlalchemy import Connection, case, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from storage.engine import ids
from storage.engine.audit import By, Change
from storage.engine.statements import read_statement
from storage.lists.commissions import net_cents
from storage.lists.payouts import PAYOUT_LINES, PAYOUTS, Payout, PayoutLine
from storage.management import one_row, payout_sending
from storage.management import payouts as runs
from storage.rules.commission import CommissionStatus
from storage.rules.errors import NotFound, PayoutOpen, PayoutSent, ValidationError, required
from storage.rules.payout import REOPENED_WITHIN, LineState, PayoutState
from storage.tables import commissions, ledger_entries, payout_lines, payouts
from storage.tracking.ledger import EntryKind

TOO_LATE = "A payout can be reopened within an hour. Later, correct its lines."
CORRECTED = "A line of the payout was corrected, so it cannot be reopened."
_TAKEN_BACK = read_statement("payout_taken_back")
_line = payout_lines.c


def reopen(connection: Connection, program_id: int, payout_id: int, *, by: By) -> Payout:
    """Make a payout that was sent within the hour a draft again: its commissions are no longer paid.

    Raises NotFound, PayoutSent after the hour, PayoutOpen while there is another draft.
    """
    run = payout_sending.lock_all(connection, program_id, payout_id, PayoutState.SENT, actor=by.actor)
    of_lines = (_line.program_id == program_id, _line.payout_id == payout_id)
    if by.at - run.sent_at > REOPENED_WITHIN:
        raise PayoutSent(TOO_LATE)
    if connection.execute(select(_line.id).where(*of_lines, _line.state == LineState.CORRECTION)).first():
        raise PayoutSent(CORRECTED)
    mine = one_row.of(payouts, program_id, payout_id)
    try:
        connection.execute(update(payouts).where(mine).values(state=PayoutState.DRAFT, reopened_at=by.at))
    except IntegrityError:
        raise PayoutOpen from None
    _take_back(connection, program_id, payout_id, at=by.at)
    live, earned = payout_sending.live_items(program_id, payout_id), commissions.c
    status = case((net_cents() == 0, CommissionStatus.REVERSED), else_=CommissionStatus.APPROVED)
    for _, part in runs.parts(connection, live):
        paid = (earned.program_id == program_id, earned.id.in_(part))
        connection.execute(update(commissions).where(*paid).values(status=status, paid_at=None))
    lines = update(payout_lines).where(*of_lines, _line.state == LineState.PAID)
    connection.execute(lines.values(state=LineState.OPEN, mail_is_due=False))
    return one_row.change(connection, PAYOUTS, program_id, payout_id, Change("payout.reopen", payout_id), by=by)


def _take_back(connection: Connection, program_id: int, payout_id: int, *, at: datetime) -> None:
    """Append the opposite of a run's entries, each pointing at what it corrects."""
    mine = (ledger_entries.c.program_id == program_id, ledger_entries.c.payout_id == payout_id)
    number = connection.execute(select(func.count()).where(*mine)).scalar_one()
    first = payout_sending.new_ids(connection, program_id, number, at=at)
    of_run = {"program_id": program_id, "payout_id": payout_id, "first_id": first - 1, "at": at}
    connection.execute(_TAKEN_BACK, of_run)


def correct_line(
    connection: Connection, program_id: int, payout_id: int, line_id: int, *, reason: str, by: By
) -> PayoutLine:
    """Take back what a line paid, as its payment came back: the amount is in the partner's balance again.

    The new line says why. Raises NotFound, ValidationError for a line that paid nothing or is corrected already.
    """
    payout_sending.lock_all(connection, program_id, payout_id, PayoutState.SENT, actor=by.actor)
    mine = (_line.program_id == program_id, _line.payout_id == payout_id)
    found = connection.execute(select(payout_lines).where(*mine, _line.id == line_id)).one_or_none()
    line = required(found, NotFound("The payout has no such line."))
    corrected = connection.execute(select(_line.id).where(*mine, _line.corrects_id == line_id)).first()
    if line.state != LineState.PAID or not line.to_pay_cents or corrected:
        raise ValidationError("Only a line that paid something can be corrected, once.")
    [new_id] = ids.after(by.at, 1)
    kept = {name: getattr(line, name) for name in ("program_id", "payout_id", "partner_id", "method", "method_masked")}
    back = {
        name: -getattr(line, name) for name in ("approved_cents", "set_off_cents", "adjusted_cents", "to_pay_cents")
    }
    about = {"id": new_id, "state": LineState.CORRECTION, "commissions": 0, "failure": reason, "corrects_id": line_id}
    connection.execute(insert(payout_lines).values(**kept, **back, **about, created_at=by.at))
    of_run = {name: kept[name] for name in ("program_id", "payout_id", "partner_id")}
    entry_id = payout_sending.new_ids(connection, program_id, 1, at=by.at)
    returned = {"kind": EntryKind.SET_OFF, "amount_cents": line.to_pay_cents, "reason": reason, "at": by.at}
    connection.execute(insert(ledger_entries).values(id=entry_id, **of_run, **returned))
    change = Change("payout.correct", payout_id, after={"line_id": line_id, "reason": reason})
    return one_row.change(connection, PAYOUT_LINES, program_id, new_id, change, by=by)
