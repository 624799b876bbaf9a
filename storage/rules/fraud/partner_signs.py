"""Signs of fraud in what partners brought in a month: shares of customers or refunds far from those of others."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from storage.rules.fraud.facts import PartnerCounts, about_partner
from storage.rules.fraud.flag import Finding, FlagKind

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


def signs_in_counts(partners: Sequence[PartnerCounts], month: datetime) -> list[Finding]:
    """Return the signs of fraud in what the partners brought since the start of a month."""
    period = f"{month:%Y-%m}"
    return [
        *_unusual_conversion_rates(partners, month, period=period),
        *_unusual_refund_rates(partners, month, period=period),
    ]


def _unusual_conversion_rates(partners: Sequence[PartnerCounts], start: datetime, *, period: str) -> Iterator[Finding]:
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


def _unusual_refund_rates(partners: Sequence[PartnerCounts], start: datetime, *, period: str) -> Iterator[Finding]:
    """Yield the partners with such a rate."""
    sales = sum(each.sales for each in partners)
    refunded = sum(each.refunded_sales for each in partners)
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
            yield about_partner(FlagKind.UNUSUAL_REFUND_RATE, partner.partner_id, start, evidence, period=period)
