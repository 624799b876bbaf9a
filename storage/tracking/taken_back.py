"""Takes back the whole worth of a commission, because the program rejected it or its lead was outranked."""

from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from storage.tracking import ledger, rollups
from storage.tracking.ledger import PARTNER_KINDS, PLATFORM_KINDS, EntryKind


def take_back(connection: Connection, commission: Any, kind: EntryKind, *, at: datetime) -> None:
    """Append entries that take back what the ledger holds of a commission (as `kind`) and of its platform fee."""
    for each, kinds in ((kind, PARTNER_KINDS), (EntryKind.PLATFORM_FEE_REVERSAL, PLATFORM_KINDS)):
        net_cents = ledger.net(connection, commission.program_id, commission.id, kinds)
        ledger.correct(connection, commission, each, net_cents, at=at)
        if kinds == PARTNER_KINDS:
            day = rollups.day_of(commission.created_at)
            back = rollups.Increment(commission.program_id, commission.partner_id, day, commission_cents=-net_cents)
            rollups.add(connection, [back])
