"""Attribution: which click a customer is linked to, and how long after a click a visitor can become a customer."""

import re
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from functools import lru_cache, reduce
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

from storage.rules.errors import AffMissing, InvalidAffiliateUrl

LOCAL = ("localhost", "127.0.0.1", "0.0.0.0")  # noqa: S104 - compared, not bound
BY_HAND = "by_hand"  # why a click does not count that stands for one that no one saw
COUPON = "coupon"  # why one does not count that stands for a coupon
REFERRAL = "referral"  # why one does not count that stands for a referral token
OUTRANKED = "first_click"  # why one does not count whose visitor kept the click of another partner


def site_url(domain: str) -> str:
    """Return the URL of a program's domain: `https`, or `http` on the developer's own machine."""
    host = domain.partition(":")[0]
    is_local = host in LOCAL or host.endswith(".localhost")
    return f"{'http' if is_local else 'https'}://{domain}"


class AttributionModel(StrEnum):
    """The click that decides, of those on the links of two partners."""

    LAST_CLICK = "last_click"
    FIRST_CLICK = "first_click"


class CouponWins(StrEnum):
    """Which partner is credited with a customer who followed the link of one and then used the coupon of another."""

    CLICK = "click"
    COUPON = "coupon"


class PartnerStatus(StrEnum):
    """Whether a partner's links work: paused partners earn only from earlier customers; inactive ones have left."""

    ACTIVE = "active"
    PAUSED = "paused"
    INACTIVE = "inactive"


class ApplicationState(StrEnum):
    """What became of an application to be a partner."""

    WAITING = "waiting"
    APPROVED = "approved"
    DECLINED = "declined"


class PaidAds(StrEnum):
    """Whether the program's terms let partners buy ads that lead to their links."""

    ALLOWED = "allowed"
    FORBIDDEN = "forbidden"


class ProgramStatus(StrEnum):
    """Whether a program accepts clicks; the leads and sales of a paused one still count."""

    ACTIVE = "active"
    PAUSED = "paused"


class OldLinks(StrEnum):
    """The parameter of another tool's links that a program accepts beside its own."""

    NONE = "none"
    VIA = "via"
    FPR = "fpr"
    REF = "ref"


AFF = "aff"
LONGEST_CODE = 64
_ORIGIN = re.compile(r"https?://([a-z0-9.-]{1,253})(:[0-9]{1,5})?")
_PUNCTUATION_AT_END = re.compile(r"[\W_]+$")
CODE = r"^[A-Za-z0-9._~-]+$"  # what a partner's code may consist of, so that links need no escapes
PARAMETERS = (AFF, OldLinks.VIA, OldLinks.FPR, OldLinks.REF)


def code_key(code: str) -> str:
    """Return what codes have in common that are one: they differ in case or in punctuation at their end."""
    return _PUNCTUATION_AT_END.sub("", code).lower() or code


@lru_cache(maxsize=4096)  # most visitors of a link arrive at the same URL
def link_code(affiliate_url: str) -> tuple[str, str]:
    """Return the code in a landing page's URL and its parameter's name. Raises InvalidAffiliateUrl, AffMissing."""
    try:
        url = urlsplit(affiliate_url)
        absolute = url.scheme in {"http", "https"} and bool(url.hostname)
    except ValueError:
        absolute = False
    if not absolute:
        raise InvalidAffiliateUrl
    sent = parse_qs(url.query)
    for name in PARAMETERS:
        code = sent.get(name, [""])[0]
        if code.strip() and code.isprintable():
            return code.strip(), name
    raise AffMissing


def is_own_origin(origin: str, domains: Iterable[str]) -> bool:
    """Return whether the origin of a page is one of some domains or of their subdomains, on any port unless named."""
    found = _ORIGIN.fullmatch(origin)
    hosts = (found[1], f"{found[1]}{found[2] or ''}") if found else ()
    # The pages of shop.example belong to www.shop.example.
    own = [f".{domain.removeprefix('www.')}" for domain in domains]
    return any(f".{host}".endswith(domain) for host in hosts for domain in own)


class FollowedLink(NamedTuple):
    """A click on a partner's link."""

    click_id: str
    partner_id: int
    at: datetime


def keeps_existing(existing: FollowedLink, new: FollowedLink, program: Any) -> bool:
    """Return whether the click that a visitor carries outranks a new one, by a program's model and cookie window."""
    outranks = existing.partner_id == new.partner_id or program.attribution_model == AttributionModel.FIRST_CLICK
    return outranks and is_within(existing.at, new.at, program.cookie_window_days)


def carried(links: Sequence[FollowedLink], program: Any) -> FollowedLink:
    """Return the click that a visitor carries after they followed some links, the earliest first."""
    return reduce(lambda existing, new: existing if keeps_existing(existing, new, program) else new, links)


def stays_on_arrival(model: AttributionModel, *, existing_at: datetime | None, arriving_at: datetime) -> bool:
    """Return whether the click that a visitor carries stays when another comes with them from the program's domains."""
    return existing_at is not None and (model == AttributionModel.FIRST_CLICK or existing_at >= arriving_at)


def is_before(clicked_at: datetime, at: datetime) -> bool:
    """Return whether `at` is before the click, in whole seconds: senders truncate their timestamps."""
    return at < clicked_at.replace(microsecond=0)


def is_within(clicked_at: datetime, at: datetime, window_days: int, *, until: datetime | None = None) -> bool:
    """Return whether `at` is at most `window_days` after the click, and before a referral expires that precedes it."""
    has_expired = until is not None and clicked_at < until <= at
    return not has_expired and at <= clicked_at + timedelta(days=window_days)
