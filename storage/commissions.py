"""Commissions: their way from pending to paid, or to nothing."""

from datetime import datetime
from typing import Any

from sqlalchemy import Connection, select, update

from storage import ledger, rollups
from storage.ledger import PARTNER_KINDS, PLATFORM_KINDS, EntryKind
from storage.rules.commission import MAY_BECOME, CommissionStatus
from storage.rules.errors import FieldError, NotFound, ValidationError
from storage.tables import commissions


def change_status(
    connection: Connection, program_id: int, commission_id: int, status: CommissionStatus, *, at: datetime
) -> None:
    """Approve, reject or pay a commission. A rejection takes what the ledger holds back with negative entries.

    Raises NotFound for a commission that the program has not, ValidationError for a step that is not allowed.
    """
    mine = (commissions.c.program_id == program_id, commissions.c.id == commission_id)
    commission = connection.execute(select(commissions).where(*mine).with_for_update()).one_or_none()
    if commission is None:
        raise NotFound(f"Program {program_id} has no commission {commission_id}.")
    if status not in MAY_BECOME[CommissionStatus(commission.status)]:
        refused = FieldError("status", f"A commission that is {commission.status} cannot become {status}")
        raise ValidationError(fields=[refused])
    paid_at = at if status == CommissionStatus.PAID else None
    connection.execute(update(commissions).where(*mine).values(status=status, paid_at=paid_at))
    if status == CommissionStatus.REJECTED:
        _take_back(connection, commission, at)


def _take_back(connection: Connection, commission: Any, at: datetime) -> None:
    for kind, kinds in ((EntryKind.REJECTION, PARTNER_KINDS), (EntryKind.PLATFORM_FEE_REVERSAL, PLATFORM_KINDS)):
        net_cents = ledger.net(connection, commission.program_id, commission.id, kinds)
        ledger.correct(connection, commission, kind, net_cents, at=at)
        if kind == EntryKind.REJECTION:
            day = rollups.day_of(commission.created_at)
            back = rollups.Step(commission.program_id, commission.partner_id, day, commission_cents=-net_cents)
            rollups.step(connection, [back])
