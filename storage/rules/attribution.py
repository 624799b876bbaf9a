"""Which click a customer is linked to, and for how long a click may still become one."""

from datetime import datetime, timedelta
from enum import StrEnum
from functools import lru_cache
from urllib.parse import parse_qs, urlsplit

from storage.rules.errors import AffMissing, InvalidAffiliateUrl


class AttributionModel(StrEnum):
    """Which of two partners' clicks keeps the visitor."""

    LAST_CLICK = "last_click"
    FIRST_CLICK = "first_click"


class PartnerStatus(StrEnum):
    """Active partners send customers; paused ones keep earning from those they sent; inactive ones have left."""

    ACTIVE = "active"
    PAUSED = "paused"
    INACTIVE = "inactive"


class PaidAds(StrEnum):
    """Whether the program's terms let partners buy ads that lead to their links."""

    ALLOWED = "allowed"
    FORBIDDEN = "forbidden"


class ProgramStatus(StrEnum):
    """A paused program takes no new clicks; its customers' leads and sales still count."""

    ACTIVE = "active"
    PAUSED = "paused"


@lru_cache(maxsize=4096)  # most visitors of a link arrive at the same address
def partner_code(affiliate_url: str) -> str:
    """Return the partner code that a landing page's address carries in `?aff=`.

    Raises InvalidAffiliateUrl when it is no absolute http(s) address, AffMissing when it carries no code.
    """
    try:
        url = urlsplit(affiliate_url)
        absolute = url.scheme in {"http", "https"} and bool(url.hostname)
    except ValueError:
        absolute = False
    if not absolute:
        raise InvalidAffiliateUrl
    codes = parse_qs(url.query).get("aff")
    if not codes or not codes[0].strip() or not codes[0].isprintable():
        raise AffMissing
    return codes[0].strip()


def keeps_existing(model: AttributionModel, *, same_partner: bool) -> bool:
    """Say whether a visitor who already carries a live click keeps it on the next one."""
    return same_partner or model == AttributionModel.FIRST_CLICK


def is_before(clicked_at: datetime, at: datetime) -> bool:
    """Say whether `at` is before the click, to the second: senders cut the fraction off their timestamps."""
    return at < clicked_at.replace(microsecond=0)


def is_within(clicked_at: datetime, at: datetime, window_days: int) -> bool:
    """Say whether `at` is no later than `window_days` after the click."""
    return at <= clicked_at + timedelta(days=window_days)
