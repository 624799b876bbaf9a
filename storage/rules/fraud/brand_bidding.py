"""Brand bidding: a partner buys search ads, though the program's terms forbid it."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime

from storage.rules.click_details import SEARCH_ADS
from storage.rules.fraud.facts import ClickFacts, about_partner
from storage.rules.fraud.flag import Finding, FlagKind

REASON = "Visitors came from search ads, which the program's terms forbid."
FEWEST = 3
MOST_HOSTS = 5


def find(clicks: Sequence[ClickFacts], start: datetime, *, period: str) -> Iterator[Finding]:
    """Yield the partners whose visitors clicked search ads. Only for programs that forbid paid ads."""
    bought: dict[int, list[ClickFacts]] = defaultdict(list)
    for click in clicks:
        if click.ad_markers and not SEARCH_ADS.isdisjoint(click.ad_markers.split(",")):
            bought[click.partner_id].append(click)
    for partner_id, group in bought.items():
        if len(group) >= FEWEST:
            markers = {marker for click in group for marker in (click.ad_markers or "").split(",")}
            hosts = sorted({click.referrer_host for click in group if click.referrer_host})
            evidence = {
                "clicks": len(group),
                "ad_markers": sorted(markers & SEARCH_ADS),
                "referrer_hosts": hosts[:MOST_HOSTS],
            }
            yield about_partner(FlagKind.BRAND_BIDDING, partner_id, start, evidence, period=period)
