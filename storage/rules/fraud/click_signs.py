"""Signs of fraud among the clicks of a day: floods, hidden windows, and search ads where the terms forbid them."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime

from storage.rules.attribution import PaidAds
from storage.rules.click_details import SEARCH_ADS
from storage.rules.fraud.facts import ClickFacts, about_partner
from storage.rules.fraud.flag import Finding, FlagKind

MOST_AN_HOUR = 100
LEAST_SHARE = 0.2  # of the partner's clicks in that hour: a mobile carrier shares a network among many visitors
FEWEST_HIDDEN = 20
LEAST_SHARE_HIDDEN = 0.2  # of the partner's clicks of the day
LARGEST_HIDDEN = 10  # pixels: a window of this width or height is too small to read a page in
FEWEST_FROM_ADS = 3
MOST_HOSTS = 5
_SIZE = re.compile(r"([0-9]{1,5})x([0-9]{1,5})")


def signs_in_clicks(clicks: Sequence[ClickFacts], day: datetime, *, paid_ads: PaidAds) -> list[Finding]:
    """Return the signs of fraud among the clicks since the start of a day."""
    period = f"{day:%Y-%m-%d}"
    bidding = _brand_bidding(clicks, day, period=period) if paid_ads == PaidAds.FORBIDDEN else ()
    return [*_floods(clicks, day, period=period), *_hidden_clicks(clicks, day, period=period), *bidding]


def _floods(clicks: Sequence[ClickFacts], start: datetime, *, period: str) -> Iterator[Finding]:
    """Yield the partners with a flood; its largest hour is the evidence."""
    totals: Counter[tuple[int, int]] = Counter()
    networks: Counter[tuple[int, int, str]] = Counter()
    for click in clicks:
        hour = int(click.at.timestamp()) // 3600
        totals[click.partner_id, hour] += 1
        if click.address_hash:
            networks[click.partner_id, hour, click.address_hash] += 1
    seen: set[int] = set()
    for (partner_id, hour, address_hash), count in networks.most_common():
        if count <= MOST_AN_HOUR:
            break
        if partner_id not in seen and count >= LEAST_SHARE * totals[partner_id, hour]:
            seen.add(partner_id)
            evidence = {
                "clicks": count,
                "of": totals[partner_id, hour],
                "hour": datetime.fromtimestamp(hour * 3600, start.tzinfo).isoformat(),
                "address_hash": address_hash,
            }
            yield about_partner(FlagKind.CLICK_FLOODING, partner_id, start, evidence, period=period)


def _hidden_clicks(clicks: Sequence[ClickFacts], start: datetime, *, period: str) -> Iterator[Finding]:
    """Yield the partners of whom many clicks came from a window that is too small to see."""
    total = Counter(click.partner_id for click in clicks)
    hidden = Counter(click.partner_id for click in clicks if is_hidden(click.viewport_size))
    for partner_id, count in hidden.items():
        if count >= FEWEST_HIDDEN and count >= LEAST_SHARE_HIDDEN * total[partner_id]:
            evidence = {"hidden_clicks": count, "of": total[partner_id]}
            yield about_partner(FlagKind.COOKIE_STUFFING, partner_id, start, evidence, period=period)


def is_hidden(viewport_size: str | None) -> bool:
    """Say whether a viewport is too small to be seen."""
    size = _SIZE.fullmatch(viewport_size or "")
    return size is not None and min(int(size[1]), int(size[2])) <= LARGEST_HIDDEN


def _brand_bidding(clicks: Sequence[ClickFacts], start: datetime, *, period: str) -> Iterator[Finding]:
    """Yield the partners whose visitors clicked search ads. Only for programs that forbid paid ads."""
    bought: dict[int, list[ClickFacts]] = defaultdict(list)
    for click in clicks:
        if click.ad_markers and not SEARCH_ADS.isdisjoint(click.ad_markers.split(",")):
            bought[click.partner_id].append(click)
    for partner_id, group in bought.items():
        if len(group) >= FEWEST_FROM_ADS:
            markers = {marker for click in group for marker in (click.ad_markers or "").split(",")}
            hosts = sorted({click.referrer_host for click in group if click.referrer_host})
            evidence = {
                "clicks": len(group),
                "ad_markers": sorted(markers & SEARCH_ADS),
                "referrer_hosts": hosts[:MOST_HOSTS],
            }
            yield about_partner(FlagKind.BRAND_BIDDING, partner_id, start, evidence, period=period)
