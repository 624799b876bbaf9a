"""Payouts: the states of runs and lines, the methods by which partners are paid, and why some are not paid now."""

from datetime import date, datetime, timedelta
from enum import StrEnum
from typing import NamedTuple

METHOD_HOLD = timedelta(days=7)
REOPENED_WITHIN = timedelta(hours=1)


class PayoutState(StrEnum):
    """A run is a draft until it is sent. One that was sent, reopened and given up stays, discarded."""

    DRAFT = "draft"
    SENT = "sent"
    DISCARDED = "discarded"


class LineState(StrEnum):
    """A line is open in a draft, then paid or failed; a correction takes back what another line paid."""

    OPEN = "open"
    PAID = "paid"
    FAILED = "failed"
    CORRECTION = "correction"


class MethodKind(StrEnum):
    """How a partner is paid."""

    PAYPAL = "paypal"
    WISE = "wise"
    BANK = "bank"
    OTHER = "other"


class PayableReason(StrEnum):
    """Why a partner is not paid now; the first that fits."""

    IN_DRAFT = "in_draft"
    OWES_BACK = "owes_back"
    HELD = "held"
    NOTHING_TO_PAY = "nothing_to_pay"
    BELOW_MINIMUM = "below_minimum"
    NEEDS_METHOD = "needs_method"
    METHOD_ON_HOLD = "method_on_hold"


class Owed(NamedTuple):
    """What a line pays, in cents: what is approved, less what the partner owes back, and what they are owed besides."""

    set_off_cents: int
    adjusted_cents: int
    to_pay_cents: int


def owed(approved_cents: int, settled_cents: int) -> Owed:
    """Return what is paid of an approved sum; what is settled is below 0 if the partner owes it back, else a bonus."""
    set_off_cents = min(approved_cents, max(-settled_cents, 0))
    adjusted_cents = max(settled_cents, 0)
    return Owed(set_off_cents, adjusted_cents, approved_cents - set_off_cents + adjusted_cents)


def end_of_last_month(at: datetime) -> date:
    """Return the last day of the month before, the default of what a run pays."""
    return at.date().replace(day=1) - timedelta(days=1)
