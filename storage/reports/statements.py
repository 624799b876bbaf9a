"""The statement of a partner for a payout: each commission, each entry that it set off, and the totals."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection, func, select

from storage.lists.declaration import ListScope
from storage.lists.find import get
from storage.lists.payouts import PAYOUT_LINES, PayoutLine
from storage.lists.programs import Program, read_program
from storage.rules.errors import NotFound
from storage.rules.payout import LineState
from storage.tables import commissions, ledger_entries, partners, payout_items, payout_lines, sales
from storage.tracking.ledger import EntryKind

SETTLED_LATER = (EntryKind.REVERSAL, EntryKind.REINSTATEMENT, EntryKind.ADJUSTMENT)
MOST_COMMISSIONS, MOST_ENTRIES = 2_000, 1_000


class StatementCommission(NamedTuple):
    """A commission that was paid: as earned, what refunds took of it before, and what was paid, in cents."""

    id: int
    earned_at: datetime
    transaction_id: str | None
    amount_cents: int
    refunded_cents: int
    net_cents: int


class StatementEntry(NamedTuple):
    """What changed a balance besides: the refund of a sale whose commission was paid before, a bonus, a correction."""

    at: datetime
    kind: EntryKind
    transaction_id: str | None
    reason: str | None
    cents: int


class PartnerStatement(NamedTuple):
    """What a payout paid a partner, in cents of the program's currency; `number` and amounts never change.

    `commissions` are the newest 2,000. `entries` are since the partner's statement before, `carried_cents` is what was
    left of earlier ones.
    """

    number: int
    line: PayoutLine
    program: Program
    partner_email: str | None
    commissions: Sequence[StatementCommission]
    entries: Sequence[StatementEntry]
    carried_cents: int
    corrected: str | None


def read_statement(connection: Connection, program_id: int, number: int, *, at: datetime) -> PartnerStatement:
    """Return the statement of a program that has a number. Raises NotFound."""
    row = payout_lines.c
    named = (row.program_id == program_id, row.number == number)
    line_id = connection.execute(select(row.id).where(*named)).scalar()
    if line_id is None:
        raise NotFound("The program has no such statement.")
    line = get(connection, PAYOUT_LINES, ListScope(program_id, at), line_id)
    partner, back = partners.c, (row.program_id == program_id, row.corrects_id == line_id)
    email = select(partner.email).where(partner.program_id == program_id, partner.id == line.partner_id)
    entries = _entries(connection, program_id, line)
    return PartnerStatement(
        number=number,
        line=line,
        program=read_program(connection, program_id),
        partner_email=connection.execute(email).scalar(),
        commissions=_commissions(connection, program_id, line),
        entries=entries,
        carried_cents=line.adjusted_cents - line.set_off_cents - sum(each.cents for each in entries),
        corrected=connection.execute(select(row.failure).where(*back)).scalar(),
    )


def list_numbers(connection: Connection, program_id: int, payout_id: int) -> Sequence[int]:
    """Return the numbers of a run's statements of what was paid."""
    row = payout_lines.c
    paid = (row.program_id == program_id, row.payout_id == payout_id, row.state == LineState.PAID)
    return (
        connection.execute(select(row.number).where(*paid, row.to_pay_cents > 0).order_by(row.number)).scalars().all()
    )


def _commissions(connection: Connection, program_id: int, line: PayoutLine) -> list[StatementCommission]:
    item, earned = payout_items.c, commissions.c
    mine = (item.program_id == program_id, item.payout_id == line.payout_id, item.partner_id == line.partner_id)
    of_item = (earned.program_id == item.program_id) & (earned.id == item.commission_id)
    of_sale = (sales.c.program_id == item.program_id) & (sales.c.id == earned.sale_id)
    columns = (earned.id, earned.created_at, sales.c.transaction_id, earned.amount_cents, item.net_cents)
    joined = payout_items.join(commissions, of_item).outerjoin(sales, of_sale)
    newest = select(*columns).select_from(joined).where(*mine).order_by(earned.id.desc()).limit(MOST_COMMISSIONS)
    rows = connection.execute(newest).all()
    return [StatementCommission(*each[:4], each.amount_cents - each.net_cents, each.net_cents) for each in rows[::-1]]


def _entries(connection: Connection, program_id: int, line: PayoutLine) -> list[StatementEntry]:
    """Return what changed the balance, besides commissions to pay, between the statement before and the draft."""
    row, entry, earned = payout_lines.c, ledger_entries.c, commissions.c
    earlier = (row.program_id == program_id, row.partner_id == line.partner_id, row.created_at < line.created_at)
    before = connection.execute(select(func.max(row.created_at)).where(*earlier, row.state == LineState.PAID)).scalar()
    mine = [entry.program_id == program_id, entry.partner_id == line.partner_id, entry.at <= line.created_at]
    if before is not None:
        mine.append(entry.at > before)
    of_entry = (earned.program_id == entry.program_id) & (earned.id == entry.commission_id)
    of_sale = (sales.c.program_id == entry.program_id) & (sales.c.id == earned.sale_id)
    is_later = entry.kind.in_(SETTLED_LATER) & (earned.id.is_(None) | (earned.paid_at < entry.at))
    columns = (entry.at, entry.kind, sales.c.transaction_id, entry.reason, entry.amount_cents)
    joined = ledger_entries.outerjoin(commissions, of_entry).outerjoin(sales, of_sale)
    found = select(*columns).select_from(joined).where(*mine, is_later).order_by(entry.id).limit(MOST_ENTRIES)
    return [StatementEntry(each[0], EntryKind(each[1]), *each[2:]) for each in connection.execute(found)]
