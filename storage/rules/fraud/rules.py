"""All rules about fraud, run over what was read: recent customers, a day's clicks, a month's counts."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from storage.rules.attribution import PaidAds
from storage.rules.fraud import (
    brand_bidding,
    click_flooding,
    cookie_stuffing,
    existing_customer,
    many_customers_one_source,
    self_referral,
    shared_click,
    unusual_conversion_rate,
    unusual_refund_rate,
)
from storage.rules.fraud.facts import ClickFacts, CustomerFacts, PartnerCounts
from storage.rules.fraud.flag import Finding


def of_customers(customers: Sequence[CustomerFacts], partner_emails: Mapping[int, str]) -> list[Finding]:
    """Return the signs of fraud among customers; `partner_emails` are the partners' e-mail hashes."""
    return [
        *self_referral.find(customers, partner_emails),
        *many_customers_one_source.find(customers),
        *shared_click.find(customers),
        *existing_customer.find(customers),
        *cookie_stuffing.find_in_customers(customers),
    ]


def of_clicks(clicks: Sequence[ClickFacts], day: datetime, *, paid_ads: PaidAds) -> list[Finding]:
    """Return the signs of fraud among the clicks since the start of a day."""
    period = f"{day:%Y-%m-%d}"
    bidding = brand_bidding.find(clicks, day, period=period) if paid_ads == PaidAds.FORBIDDEN else ()
    hidden = cookie_stuffing.find_in_clicks(clicks, day, period=period)
    return [*click_flooding.find(clicks, day, period=period), *hidden, *bidding]


def of_counts(partners: Sequence[PartnerCounts], month: datetime) -> list[Finding]:
    """Return the signs of fraud in what the partners brought since the start of a month."""
    period = f"{month:%Y-%m}"
    rates = unusual_conversion_rate.find(partners, month, period=period)
    return [*rates, *unusual_refund_rate.find(partners, month, period=period)]
