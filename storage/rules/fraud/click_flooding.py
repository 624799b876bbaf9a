"""Click flooding: one network sends masses of clicks, to be the last click of whoever buys."""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime

from storage.rules.fraud.facts import ClickFacts, about_partner
from storage.rules.fraud.flag import Finding, FlagKind

REASON = "One network sent far more clicks within an hour than its visitors can make."
MOST_AN_HOUR = 100
LEAST_SHARE = 0.2  # of the partner's clicks in that hour: a mobile carrier shares a network among many visitors


def find(clicks: Sequence[ClickFacts], start: datetime, *, period: str) -> Iterator[Finding]:
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
