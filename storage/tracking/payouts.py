"""Payouts: what a commission is worth, less what refunds of paid commissions left owing."""

from collections import Counter
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, FromClause, func, select

from storage.rules.commission import CommissionStatus
from storage.tables import commissions, ledger_entries, programs
from storage.tracking.corrections import Corrections
from storage.tracking.ledger import ACCOUNT_KINDS, PARTNER_KINDS, EntryKind


def is_sandbox(connection: Connection, program_id: int) -> bool:
    """Return whether a program is a sandbox, whose commissions no payout includes."""
    sandbox_of = select(programs.c.sandbox_of).where(programs.c.id == program_id)
    return connection.execute(sandbox_of).scalar() is not None


def record(connection: Connection, program_id: int, paid: Sequence[Any], *, at: datetime) -> None:
    """Append the payouts of the present worth of commissions, and set off what refunds of paid ones left owing.

    The commissions are paid by now, and their partners' accounts locked: two payouts set off one debt once. If the
    program owes a partner instead (a dispute was won), the set-off is negative.
    """
    ledger = Corrections(connection, paid)
    settled = _settled(connection, program_id, {each.partner_id for each in paid})
    owing = Counter({partner_id: -cents for partner_id, cents in settled.items()})
    for each in paid:
        owing[each.partner_id] += ledger.net(each, PARTNER_KINDS)
    for commission in paid:
        net_cents, owing_cents = ledger.net(commission, PARTNER_KINDS), owing[commission.partner_id]
        ledger.append(commission, EntryKind.PAYOUT, -net_cents)
        ledger.append(commission, EntryKind.SET_OFF, min(net_cents, owing_cents))
        owing[commission.partner_id] -= min(net_cents, owing_cents)
    ledger.save(at=at)


def is_settled() -> ColumnElement[bool]:
    """Match entries, joined with their commissions, that no payout will settle any more: what they sum up to is due."""
    return commissions.c.id.is_(None) | (commissions.c.status == CommissionStatus.PAID)


def with_commissions() -> FromClause:
    """Return the entries with their commissions."""
    entry = ledger_entries.c
    theirs = (commissions.c.program_id == entry.program_id) & (commissions.c.id == entry.commission_id)
    return ledger_entries.outerjoin(commissions, theirs)


def _settled(connection: Connection, program_id: int, partner_ids: Collection[int]) -> dict[int, int]:
    entry = ledger_entries.c
    account = (entry.program_id == program_id, entry.partner_id.in_(partner_ids), entry.kind.in_(ACCOUNT_KINDS))
    total = select(entry.partner_id, func.sum(entry.amount_cents)).select_from(with_commissions())
    settled = connection.execute(total.where(*account, is_settled()).group_by(entry.partner_id))
    return {partner_id: int(cents) for partner_id, cents in settled}
