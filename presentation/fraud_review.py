"""The review before a commission is approved or paid, so that what was just reported is considered, too."""

from collections.abc import Sequence
from datetime import datetime

from storage import Storage
from storage.management import flags, fraud_review
from storage.rules.commission import CommissionStatus

REVIEWED = {CommissionStatus.APPROVED, CommissionStatus.PAID}


async def before(
    storage: Storage, program_id: int, commission_ids: Sequence[int], status: CommissionStatus, *, at: datetime
) -> None:
    """Flag what the rules find about these commissions; the decision then rejects those that are held."""
    if status in REVIEWED:
        found = await storage.read(fraud_review.before_decision, program_id, commission_ids)
        if found:
            await storage.write(flags.raise_flags, program_id, found, at=at, lane=program_id)
