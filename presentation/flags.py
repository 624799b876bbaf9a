"""Flags as both APIs publish them: signs of fraud, and the decision on one."""

from datetime import datetime
from typing import Any, Literal, Self

from presentation.resources import PartnerNameView
from presentation.view import View
from storage.management import flags
from storage.rules.fraud.flag import FlagKind, FlagState
from web.body import Body, Text


class FlagView(View):
    """A sign of fraud. It holds the commissions of `customer_id`, or without one the partner's since `held_from`.

    `commission_id` is the first that the customer earned the partner. `evidence` depends on the kind.
    """

    id: int
    kind: FlagKind
    reason: str
    evidence: dict[str, Any]
    state: FlagState
    partner: PartnerNameView
    customer_id: int | None
    customer_key: str | None
    commission_id: int | None
    held_from: datetime
    created_at: datetime
    decided_at: datetime | None
    decided_by: str | None
    decision_reason: str | None

    @classmethod
    def of(cls, row: flags.Flag) -> Self:
        """Return the view of a flag."""
        return cls(**row._asdict(), partner=PartnerNameView.of(row))


class FlagDecision(Body):
    """The decision on a flag: `dismissed` releases the commissions that it holds, `confirmed` rejects them."""

    state: Literal[FlagState.DISMISSED, FlagState.CONFIRMED]
    reason: Text | None = None
