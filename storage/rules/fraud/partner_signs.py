"""Signs of fraud in what partners brought: floods of clicks, and a month's shares of customers and refunds."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from storage.rules.fraud.flag import Finding, FlagKind

FLOOD = "flood"  # why a click does not count
MOST_AN_HOUR = 100
LEAST_SHARE = 0.2  # of the partner's clicks in that hour: a mobile carrier shares a network among many visitors
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


class Flood(NamedTuple):
    """A partner's clicks from one network within an hour: more than its visitors can make."""

    partner_id: int
    hour: datetime
    address_hash: str


class PartnerCounts(NamedTuple):
    """What a partner brought in a period."""

    partner_id: int
    clicks: int = 0
    conversions: int = 0
    sales: int = 0
    refunded_sales: int = 0


Evidence = dict[str, Any]
Sign = tuple[FlagKind, int, Evidence]


def floods(clicks: Iterable[tuple[int, datetime, str | None]]) -> list[Flood]:
    """Return the floods among clicks, each with its partner, its time and the hash of its network."""
    hours = [(of, at.astimezone(UTC).replace(minute=0, second=0, microsecond=0), network) for of, at, network in clicks]
    totals = Counter((partner_id, hour) for partner_id, hour, _ in hours)
    networks = Counter(Flood(partner_id, hour, network) for partner_id, hour, network in hours if network)
    large = ((flood, count) for flood, count in networks.items() if count > MOST_AN_HOUR)
    return [flood for flood, count in large if count >= LEAST_SHARE * totals[flood.partner_id, flood.hour]]


def signs_in_counts(partners: Sequence[PartnerCounts], month: datetime) -> list[Finding]:
    """Return the signs of fraud in what the partners brought since the start of a month."""
    signs = [*_unusual_conversion_rates(partners), *_unusual_refund_rates(partners)]
    return [Finding(kind, f"partner:{each}:{month:%Y-%m}", each, month, evidence) for kind, each, evidence in signs]


def _beside_others(
    partners: Sequence[PartnerCounts], *names: str
) -> Iterator[tuple[PartnerCounts, PartnerCounts, Evidence]]:
    """Yield what each partner brought, what all others did, and some counts of both as evidence."""
    total = [sum(column) for column in zip(*partners, strict=True)]
    for partner in partners:
        others = PartnerCounts._make(whole - own for whole, own in zip(total, partner, strict=True))
        both = {"": partner, "others_": others}
        yield partner, others, {f"{whose}{name}": getattr(each, name) for whose, each in both.items() for name in names}


def _unusual_conversion_rates(partners: Sequence[PartnerCounts]) -> Iterator[Sign]:
    """Yield the partners with a rate far above that of all others, or far below that of each other one."""
    for partner, others, evidence in _beside_others(partners, "clicks", "conversions"):
        if others.conversions >= FEWEST_CONVERSIONS and others.clicks > 0:
            expected = partner.clicks * others.conversions / others.clicks
            fewest = max(FEWEST_CONVERSIONS, TIMES_MORE * expected)
            is_high = partner.clicks >= FEWEST_CLICKS and partner.conversions >= fewest
            if is_high or _is_low(partner, [each for each in partners if each != partner]):
                about = evidence | {"expected_conversions": round(expected, 1)}
                yield FlagKind.UNUSUAL_CONVERSION_RATE, partner.partner_id, about


def _is_low(partner: PartnerCounts, others: Sequence[PartnerCounts]) -> bool:
    rates = [each.conversions / each.clicks for each in others if each.clicks >= FEWEST_CLICKS_OF_OTHERS]
    if len(rates) < FEWEST_OTHERS:
        return False
    expected = partner.clicks * min(rates)
    return expected >= FEWEST_EXPECTED and partner.conversions * TIMES_LESS <= expected


def _unusual_refund_rates(partners: Sequence[PartnerCounts]) -> Iterator[Sign]:
    for partner, others, evidence in _beside_others(partners, "sales", "refunded_sales"):
        if others.sales < FEWEST_OTHER_SALES or partner.refunded_sales < FEWEST_REFUNDED:
            continue
        rate = partner.refunded_sales / partner.sales
        if rate >= max(LEAST_SHARE_REFUNDED, TIMES_MORE_REFUNDED * others.refunded_sales / others.sales):
            yield FlagKind.UNUSUAL_REFUND_RATE, partner.partner_id, evidence
