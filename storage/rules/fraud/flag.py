"""Flags: their kinds and reasons, their states, and which commissions an open one holds."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
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


REASONS = {
    FlagKind.SELF_REFERRAL: (
        "The customer has the partner's e-mail address, or came from the network that the partner's own purchase did."
    ),
    FlagKind.MANY_CUSTOMERS_ONE_SOURCE: (
        "Several customers of the partner have one e-mail address, or came from one network on one day."
    ),
    FlagKind.CLICK_FLOODING: (
        "The customer's click is one of far more from one network within an hour than its visitors can make."
    ),
    FlagKind.COOKIE_STUFFING: (
        "Customers' clicks came from hidden frames, or they signed up or paid within seconds of the click."
    ),
    FlagKind.BRAND_BIDDING: "The customer came from a search ad, which the program's terms forbid.",
    FlagKind.UNUSUAL_CONVERSION_RATE: (
        "The partner's share of clicks that become customers is far from that of the program's other partners. "
        "It holds nothing: anyone can send clicks."
    ),
    FlagKind.UNUSUAL_REFUND_RATE: (
        "The partner's share of refunded sales is far above that of the program's other partners."
    ),
    FlagKind.SHARED_CLICK: "One click was reported for several customers. A click belongs to one visitor.",
    FlagKind.EXISTING_CUSTOMER: "A customer with the same e-mail address bought before the partner's click.",
    FlagKind.POSSIBLE_DUPLICATE: (
        "The server and the payment account reported sales of one amount by one customer within 10 minutes. "
        "Dismiss it if they are two purchases; confirm it if they are one."
    ),
}

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
    """A sign of fraud. `subject` names what was found: it is flagged once. Evidence holds counts, ids and times.

    Findings of one kind about one partner with the same `incident` are listed and decided as one.

    It concerns one customer's commissions, or (without a customer) all of the partner's since `held_from`; a possible
    duplicate, its own commission alone.
    """

    kind: FlagKind
    subject: str
    partner_id: int
    held_from: datetime
    evidence: Mapping[str, Any]
    customer_id: int | None = None
    commission_id: int | None = None
    incident: str | None = None
