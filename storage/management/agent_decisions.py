"""What an agent key may not approve or pay: what it approved or released itself, and what is beyond the day's caps."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, and_

from storage.lists.held import kinds_by_commission
from storage.management import agent_caps
from storage.rules.commission import CommissionStatus
from storage.rules.errors import SecondKeyRequired, ServiceError
from storage.rules.fraud.flag import FlagState
from storage.tables import flags
from storage.tracking.corrections import Corrections
from storage.tracking.ledger import PARTNER_KINDS

RELEASED = "This key dismissed a flag that held the commission, so another key has to decide."


def obstacles(
    connection: Connection,
    program_id: int,
    found: Sequence[Any],
    status: CommissionStatus,
    key_id: int,
    *,
    at: datetime,
) -> dict[int, ServiceError]:
    """Return SecondKeyRequired or OverCap for what an agent key may not approve or pay, and count what it may."""
    two_keys = status == CommissionStatus.PAID and agent_caps.get_caps(connection, program_id).two_keys_to_pay
    own = {each.id for each in found if two_keys and each.approved_by_key_id == key_id}
    errors: dict[int, ServiceError] = {each: SecondKeyRequired() for each in own}
    by_key = and_(flags.c.state == FlagState.DISMISSED, flags.c.decided_by_key_id == key_id)
    released = kinds_by_commission(connection, program_id, [each.id for each in found], by_key).keys() - own
    errors |= {each: SecondKeyRequired(RELEASED) for each in released}
    free = [each for each in found if each.id not in errors]
    ledger = Corrections(connection, free)
    worth = [ledger.net(each, PARTNER_KINDS) for each in free]
    over = agent_caps.count_each(connection, program_id, status, worth, at=at)
    return errors | {each.id: error for each, error in zip(free, over, strict=True) if error}
