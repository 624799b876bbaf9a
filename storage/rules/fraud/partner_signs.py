"""Signs of fraud in what partners brought: the clicks of a day, and a month's shares of customers and refunds."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from storage.rules.attribution import PaidAds
from storage.rules.click_details import SEARCH_ADS
from storage.rules.fraud.flag import Finding, FlagKind

MOST_AN_HOUR = 100
LEAST_SHARE = 0.2  # of the partner's clicks in that hour: a mobile carrier shares a network among many visitors
FEWEST_HIDDEN = 20
LEAST_SHARE_HIDDEN = 0.2  # of the partner's clicks of the day
LARGEST_HIDDEN = 10  # pixels: a window of this width or height is too small to read a page in
FEWEST_FROM_ADS = 3
MOST_HOSTS = 5
_SIZE = re.compile(r"([0-9]{1,5})x([0-9]{1,5})")
FEWEST_CLICKS = 20
FEWEST_CONVERSIONS = 10
TIMES_MORE = 5
FEWEST_OTHERS = 2  # beside one other partner, either of the two may be the unusual one
FEWEST_CLICKS_OF_OTHERS = 100
FEWEST_EXPECTED = 40  # below it, a partner without a conversion may be unlucky
TIMES_LESS = 10
FEWEST_REFUNDED = 5
LEAST_SHARE_REFUNDED = 0.3
TIMES_MORE_REFUNDED = 4
FEWEST_OTHER_SALES = 20


class ClickFacts(NamedTuple):
    """A click that counts."""

    partner_id: int
    at: datetime
    address_hash: str | None = None
    ad_markers: str | None = None
    referrer_host: str | None = None
    viewport_size: str | None = None


class PartnerCounts(NamedTuple):
    """What a partner brought in a period."""

    partner_id: int
    clicks: int = 0
    conversions: int = 0
    sales: int = 0
    refunded_sales: int = 0


Sign = tuple[FlagKind, int, Mapping[str, Any]]


def signs_in_clicks(clicks: Sequence[ClickFacts], day: datetime, *, paid_ads: PaidAds) -> list[Finding]:
    """Return the signs of fraud among the clicks since the start of a day.

    They are floods, hidden windows, and search ads where the program's terms forbid them.
    """
    bidding = _brand_bidding(clicks) if paid_ads == PaidAds.FORBIDDEN else ()
    return _findings([*_floods(clicks), *_hidden_clicks(clicks), *bidding], day, period=f"{day:%Y-%m-%d}")


def signs_in_counts(partners: Sequence[PartnerCounts], month: datetime) -> list[Finding]:
    """Return the signs of fraud in what the partners brought since the start of a month."""
    signs = [*_unusual_conversion_rates(partners), *_unusual_refund_rates(partners)]
    return _findings(signs, month, period=f"{month:%Y-%m}")


def _findings(signs: Iterable[Sign], start: datetime, *, period: str) -> list[Finding]:
    """Return findings that concern partners' commissions since the start of a period; one for each period."""
    return [Finding(kind, f"partner:{each}:{period}", each, start, evidence) for kind, each, evidence in signs]


def _floods(clicks: Sequence[ClickFacts]) -> Iterator[Sign]:
    """Yield the partners with a flood; its largest hour is the evidence."""
    hours = [(click, click.at.astimezone(UTC).replace(minute=0, second=0, microsecond=0)) for click in clicks]
    totals = Counter((click.partner_id, hour) for click, hour in hours)
    networks = Counter((click.partner_id, hour, click.address_hash) for click, hour in hours if click.address_hash)
    seen: set[int] = set()
    for (partner_id, hour, address_hash), count in networks.most_common():
        if count <= MOST_AN_HOUR:
            break
        of = totals[partner_id, hour]
        if partner_id not in seen and count >= LEAST_SHARE * of:
            seen.add(partner_id)
            evidence = {"clicks": count, "of": of, "hour": hour.isoformat(), "address_hash": address_hash}
            yield FlagKind.CLICK_FLOODING, partner_id, evidence


def _hidden_clicks(clicks: Sequence[ClickFacts]) -> Iterator[Sign]:
    """Yield the partners of whom many clicks came from a window that is too small to see."""
    total = Counter(click.partner_id for click in clicks)
    hidden = Counter(click.partner_id for click in clicks if _is_hidden(click.viewport_size))
    for partner_id, count in hidden.items():
        if count >= FEWEST_HIDDEN and count >= LEAST_SHARE_HIDDEN * total[partner_id]:
            yield FlagKind.COOKIE_STUFFING, partner_id, {"hidden_clicks": count, "of": total[partner_id]}


def _is_hidden(viewport_size: str | None) -> bool:
    size = _SIZE.fullmatch(viewport_size or "")
    return size is not None and min(int(size[1]), int(size[2])) <= LARGEST_HIDDEN


def _brand_bidding(clicks: Sequence[ClickFacts]) -> Iterator[Sign]:
    """Yield the partners whose visitors clicked search ads."""
    bought: dict[int, list[tuple[ClickFacts, frozenset[str]]]] = defaultdict(list)
    for click in clicks:
        if markers := SEARCH_ADS & {*(click.ad_markers or "").split(",")}:
            bought[click.partner_id].append((click, markers))
    for partner_id, group in bought.items():
        if len(group) >= FEWEST_FROM_ADS:
            hosts = sorted({click.referrer_host for click, _ in group if click.referrer_host})
            evidence = {
                "clicks": len(group),
                "ad_markers": sorted(frozenset().union(*(markers for _, markers in group))),
                "referrer_hosts": hosts[:MOST_HOSTS],
            }
            yield FlagKind.BRAND_BIDDING, partner_id, evidence


def _unusual_conversion_rates(partners: Sequence[PartnerCounts]) -> Iterator[Sign]:
    """Yield the partners with a rate far above that of all others, or far below that of each other one."""
    clicks, conversions = sum(each.clicks for each in partners), sum(each.conversions for each in partners)
    for partner in partners:
        others_clicks, others_conversions = clicks - partner.clicks, conversions - partner.conversions
        if others_conversions >= FEWEST_CONVERSIONS and others_clicks > 0:
            expected = partner.clicks * others_conversions / others_clicks
            if _is_high(partner, expected) or _is_low(partner, [each for each in partners if each != partner]):
                evidence = {
                    "clicks": partner.clicks,
                    "conversions": partner.conversions,
                    "others_clicks": others_clicks,
                    "others_conversions": others_conversions,
                    "expected_conversions": round(expected, 1),
                }
                yield FlagKind.UNUSUAL_CONVERSION_RATE, partner.partner_id, evidence


def _is_high(partner: PartnerCounts, expected: float) -> bool:
    fewest = max(FEWEST_CONVERSIONS, TIMES_MORE * expected)
    return partner.clicks >= FEWEST_CLICKS and partner.conversions >= fewest


def _is_low(partner: PartnerCounts, others: Sequence[PartnerCounts]) -> bool:
    rates = [each.conversions / each.clicks for each in others if each.clicks >= FEWEST_CLICKS_OF_OTHERS]
    if len(rates) < FEWEST_OTHERS:
        return False
    expected = partner.clicks * min(rates)
    return expected >= FEWEST_EXPECTED and partner.conversions * TIMES_LESS <= expected


def _unusual_refund_rates(partners: Sequence[PartnerCounts]) -> Iterator[Sign]:
    sales, refunded = sum(each.sales for each in partners), sum(each.refunded_sales for each in partners)
    for partner in partners:
        others_sales, others_refunded = sales - partner.sales, refunded - partner.refunded_sales
        if others_sales < FEWEST_OTHER_SALES or partner.refunded_sales < FEWEST_REFUNDED:
            continue
        rate = partner.refunded_sales / partner.sales
        if rate >= max(LEAST_SHARE_REFUNDED, TIMES_MORE_REFUNDED * others_refunded / others_sales):
            evidence = {
                "sales": partner.sales,
                "refunded_sales": partner.refunded_sales,
                "others_sales": others_sales,
                "others_refunded_sales": others_refunded,
            }
            yield FlagKind.UNUSUAL_REFUND_RATE, partner.partner_id, evidence
