"""Takes back the whole worth of a commission, because the program rejected it or its lead was outranked."""

from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from storage.tracking import ledger, rollups
from storage.tracking.ledger import PARTNER_KINDS, PLATFORM_KINDS, EntryKind
from storage.tracking.rollups import Increment


def take_back(connection: Connection, commission: Any, kind: EntryKind, *, at: datetime) -> Increment:
    """Append entries that take back what the ledger holds of a commission (as `kind`) and of its platform fee.

    Returns what the caller has to add to the rollups, together with its other increments: a transaction adds once.
    """
    program_id, commission_id = commission.program_id, commission.id
    earned_cents = ledger.net(connection, program_id, commission_id, PARTNER_KINDS)
    fee_cents = ledger.net(connection, program_id, commission_id, PLATFORM_KINDS)
    ledger.correct(connection, commission, kind, earned_cents, at=at)
    ledger.correct(connection, commission, EntryKind.PLATFORM_FEE_REVERSAL, fee_cents, at=at)
    day = rollups.day_of(commission.created_at)
    return Increment(program_id, commission.partner_id, day, commission_cents=-earned_cents)
