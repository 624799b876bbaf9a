"""An unusual conversion rate: far above or far below what the program's other partners reach."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from storage.rules.fraud.facts import PartnerCounts, about_partner
from storage.rules.fraud.flag import Finding, FlagKind

REASON = "The partner's share of clicks that become customers is far from that of the program's other partners."
FEWEST_CLICKS = 20
FEWEST_CONVERSIONS = 10
TIMES_MORE = 5
FEWEST_OTHERS = 2  # beside one other partner, either of the two may be the unusual one
FEWEST_CLICKS_OF_OTHERS = 100
FEWEST_EXPECTED = 40  # below it, a partner without a conversion may be unlucky
TIMES_LESS = 10


def find(partners: Sequence[PartnerCounts], start: datetime, *, period: str) -> Iterator[Finding]:
    """Yield the partners with a rate far above that of all others, or far below that of each other one."""
    clicks = sum(each.clicks for each in partners)
    conversions = sum(each.conversions for each in partners)
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
                kind = FlagKind.UNUSUAL_CONVERSION_RATE
                yield about_partner(kind, partner.partner_id, start, evidence, period=period)


def _is_high(partner: PartnerCounts, expected: float) -> bool:
    fewest = max(FEWEST_CONVERSIONS, TIMES_MORE * expected)
    return partner.clicks >= FEWEST_CLICKS and partner.conversions >= fewest


def _is_low(partner: PartnerCounts, others: Sequence[PartnerCounts]) -> bool:
    rates = [each.conversions / each.clicks for each in others if each.clicks >= FEWEST_CLICKS_OF_OTHERS]
    if len(rates) < FEWEST_OTHERS:
        return False
    expected = partner.clicks * min(rates)
    return expected >= FEWEST_EXPECTED and partner.conversions * TIMES_LESS <= expected
