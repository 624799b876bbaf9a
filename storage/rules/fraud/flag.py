"""Flags: their kinds and reasons, their states, and which commissions an open one holds."""

import tomllib
from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple


class FlagKind(StrEnum):
    """What a flag is a sign of."""

    SELF_REFERRAL = "self_referral"
    MANY_CUSTOMERS_ONE_SOURCE = "many_customers_one_source"
    CLICK_FLOODING = "click_flooding"
    COOKIE_STUFFING = "cookie_stuffing"
    BRAND_BIDDING = "brand_bidding"
    UNUSUAL_CONVERSION_RATE = "unusual_conversion_rate"
    UNUSUAL_REFUND_RATE = "unusual_refund_rate"
    SHARED_CLICK = "shared_click"
    EXISTING_CUSTOMER = "existing_customer"
    POSSIBLE_DUPLICATE = "possible_duplicate"


_REASONS = tomllib.loads(Path(__file__).with_name("reasons.toml").read_text(encoding="utf-8"))
REASONS: Mapping[FlagKind, str] = {FlagKind(kind): reason for kind, reason in _REASONS.items()}

# Anyone can send clicks, so what they show of a whole partner holds nothing.
SHOWN_BY_CLICKS = (
    *(FlagKind.CLICK_FLOODING, FlagKind.COOKIE_STUFFING),
    *(FlagKind.BRAND_BIDDING, FlagKind.UNUSUAL_CONVERSION_RATE),
)


class FlagState(StrEnum):
    """An open flag waits for a person; a dismissed one releases what it held; a confirmed one rejected it."""

    OPEN = "open"
    DISMISSED = "dismissed"
    CONFIRMED = "confirmed"


class Finding(NamedTuple):
    """A sign of fraud about one customer's commissions, or all of the partner's; a possible duplicate, its own."""

    kind: FlagKind
    subject: str  # what was found: it is flagged once
    partner_id: int
    held_from: datetime
    evidence: Mapping[str, Any]  # counts, ids and times
    customer_id: int | None = None
    commission_id: int | None = None
    incident: str | None = None  # findings of a kind about a partner that have the same are listed and decided as one
