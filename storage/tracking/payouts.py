"""Payouts: what a commission is worth, less what refunds of paid commissions left owing."""

from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, FromClause, func, select

from storage.rules.commission import CommissionStatus
from storage.rules.errors import ValidationError
from storage.tables import commissions, ledger_entries, partners, programs
from storage.tracking.corrections import Corrections
from storage.tracking.ledger import ACCOUNT_KINDS, PARTNER_KINDS, EntryKind


def require_live(connection: Connection, program_id: int) -> None:
    """Raise ValidationError for a sandbox: its commissions are trials, and no payout includes them."""
    sandbox_of = select(programs.c.sandbox_of).where(programs.c.id == program_id)
    if connection.execute(sandbox_of).scalar() is not None:
        raise ValidationError("A sandbox's commissions are trials: no one is paid for them.")


def record(connection: Connection, commission: Any, *, at: datetime) -> None:
    """Append the payout of a commission's present worth, and set off what refunds of paid commissions left owing.

    The commission is paid by now. If the program owes the partner instead (a dispute was won), the set-off is negative.
    """
    account = (partners.c.program_id == commission.program_id, partners.c.id == commission.partner_id)
    connection.execute(select(partners.c.id).where(*account).with_for_update())  # two payouts set off one debt once
    ledger = Corrections(connection, [commission])
    net_cents = ledger.net(commission, PARTNER_KINDS)
    ledger.append(commission, EntryKind.PAYOUT, -net_cents)
    owing_cents = net_cents - _settled(connection, commission)
    ledger.append(commission, EntryKind.SET_OFF, min(net_cents, owing_cents))
    ledger.save(at=at)


def is_settled() -> ColumnElement[bool]:
    """Match entries, joined with their commissions, that no payout will settle any more: what they sum up to is due."""
    return commissions.c.id.is_(None) | (commissions.c.status == CommissionStatus.PAID)


def with_commissions() -> FromClause:
    """Return the entries with their commissions."""
    entry = ledger_entries.c
    theirs = (commissions.c.program_id == entry.program_id) & (commissions.c.id == entry.commission_id)
    return ledger_entries.outerjoin(commissions, theirs)


def _settled(connection: Connection, commission: Any) -> int:
    entry = ledger_entries.c
    account = (entry.program_id == commission.program_id, entry.partner_id == commission.partner_id)
    total = select(func.coalesce(func.sum(entry.amount_cents), 0)).select_from(with_commissions())
    return int(connection.execute(total.where(*account, entry.kind.in_(ACCOUNT_KINDS), is_settled())).scalar_one())
