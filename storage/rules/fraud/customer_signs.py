"""Signs of fraud among customers: partners who buy themselves, one person as many, planted clicks, old customers."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from storage.rules.attribution import PaidAds
from storage.rules.click_details import SEARCH_ADS
from storage.rules.fraud.flag import Finding, FlagKind
from storage.rules.fraud.partner_signs import FLOOD

FEWEST_OF_EMAIL = 3
FEWEST_OF_NETWORK = 5  # a /24 or /48 can be an office or a school
LEAST_SHARE_OF_NETWORK = 0.25  # of the partner's customers of the day: a large partner has several in one network
MOST_NAMED = 10
FEWEST_KEYS = 4  # a visitor may change their key once or twice
AT_LEAST_BEFORE = timedelta(days=1)  # two accounts on one day can be a mistake at the sign-up
QUICK_SECONDS = 10
FEWEST_QUICK = 5
LEAST_SHARE_QUICK = 0.5  # of the partner's customers that are compared
FEWEST_HIDDEN = 5
LEAST_SHARE_HIDDEN = 0.2
LARGEST_HIDDEN = 10  # pixels: a window of this width or height is too small to read a page in
_SIZE = re.compile(r"([0-9]{1,5})x([0-9]{1,5})")


class CustomerFacts(NamedTuple):
    """A customer; from `filtered` on, what their click says."""

    id: int
    partner_id: int
    clicked_at: datetime
    created_at: datetime
    signup_at: datetime | None = None
    first_purchase_at: datetime | None = None
    email_hash: str | None = None  # of their mailbox
    addresses: frozenset[str] = frozenset()  # the network hashes of their click and browser leads
    keys: frozenset[str] = frozenset()  # all customer keys that calls sent together with their click
    commission_id: int | None = None  # the first that they earned their partner
    filtered: str | None = None
    ad_markers: str | None = None
    referrer_host: str | None = None
    viewport_size: str | None = None


Customers = Sequence[CustomerFacts]
Sign = tuple[FlagKind, CustomerFacts, str | None, Mapping[str, Any]]  # with the incident and the evidence


def signs_in_customers(
    customers: Customers, partner_emails: Mapping[int, str], paid_ads: PaidAds = PaidAds.ALLOWED
) -> list[Finding]:
    """Return the signs of fraud among customers; `partner_emails` are the partners' e-mail hashes."""
    # A finding concerns all commissions of a customer: those who earned none are only compared with.
    earning = [each for each in customers if each.commission_id is not None]
    shared = [each for each in earning if len(each.keys) >= FEWEST_KEYS]
    signs = (
        *_self_referrals(earning, customers, partner_emails),
        *_many_of_one_source(earning),
        *((FlagKind.SHARED_CLICK, each, None, {"customer_keys": len(each.keys)}) for each in shared),
        *_existing_customers(earning, customers),
        *_stuffed_cookies(earning),
        *_clicks(earning, paid_ads),
    )
    findings = []
    for kind, one, incident, evidence in signs:
        about = (f"customer:{one.id}", one.partner_id, min(one.created_at, one.clicked_at))
        findings.append(Finding(kind, *about, evidence, one.id, one.commission_id, incident))
    return findings


def _self_referrals(earning: Customers, customers: Customers, partner_emails: Mapping[int, str]) -> Iterator[Sign]:
    """Yield the customers who are the partner. A network counts only on the day when the partner used it."""
    own = [each for each in customers if each.email_hash and each.email_hash == partner_emails.get(each.partner_id)]
    networks = {(each.partner_id, address) for each in own for address in each.addresses}
    for customer in earning:
        if customer in own:
            yield FlagKind.SELF_REFERRAL, customer, "email", {"same": "email"}
        elif any((customer.partner_id, address) in networks for address in customer.addresses):
            yield FlagKind.SELF_REFERRAL, customer, "address", {"same": "address"}


def _many_of_one_source(earning: Customers) -> Iterator[Sign]:
    """Yield every customer of a group with one e-mail address or one network."""
    by_source: dict[tuple[int, str, str], list[CustomerFacts]] = defaultdict(list)
    for customer in earning:
        if customer.email_hash:
            by_source[customer.partner_id, "email", customer.email_hash].append(customer)
        for address in customer.addresses:
            by_source[customer.partner_id, "address", address].append(customer)
    flagged: set[int] = set()
    for (partner_id, source, shared), group in sorted(by_source.items(), key=lambda each: each[0][1], reverse=True):
        days = {each.clicked_at.date() for each in group}
        of_days = sum(each.partner_id == partner_id and each.clicked_at.date() in days for each in earning)
        fewest = FEWEST_OF_EMAIL if source == "email" else max(FEWEST_OF_NETWORK, LEAST_SHARE_OF_NETWORK * of_days)
        if len(group) >= fewest:
            ids = sorted(each.id for each in group)
            evidence = {"same": source, "customers": len(group), "customer_ids": ids[:MOST_NAMED]}
            for customer in group:
                if customer.id not in flagged:
                    flagged.add(customer.id)
                    yield FlagKind.MANY_CUSTOMERS_ONE_SOURCE, customer, f"{source}:{shared}", evidence


def _existing_customers(earning: Customers, customers: Customers) -> Iterator[Sign]:
    """Yield the customers who had bought under another key."""
    by_email: dict[str | None, list[CustomerFacts]] = defaultdict(list)
    for customer in customers:
        by_email[customer.email_hash].append(customer)
    for customer in earning:
        for known in by_email[customer.email_hash] if customer.email_hash else ():
            bought_at = known.first_purchase_at
            if known.id != customer.id and bought_at and bought_at + AT_LEAST_BEFORE <= customer.clicked_at:
                times = {"bought_at": bought_at.isoformat(), "clicked_at": customer.clicked_at.isoformat()}
                yield FlagKind.EXISTING_CUSTOMER, customer, f"{known.id}", {"known_customer_id": known.id, **times}
                break


def _stuffed_cookies(earning: Customers) -> Iterator[Sign]:
    """Yield customers from hidden windows, and those who converted within seconds, where many of a partner's did."""
    by_partner: dict[int, list[CustomerFacts]] = defaultdict(list)
    for customer in earning:
        by_partner[customer.partner_id].append(customer)
    for all_of_them in by_partner.values():
        sizes = [(each, _SIZE.fullmatch(each.viewport_size or "")) for each in all_of_them]
        hidden = [each for each, size in sizes if size and min(int(size[1]), int(size[2])) <= LARGEST_HIDDEN]
        if len(hidden) >= FEWEST_HIDDEN and len(hidden) >= LEAST_SHARE_HIDDEN * len(all_of_them):
            of_all = {"hidden_clicks": len(hidden), "of": len(all_of_them)}
            yield from ((FlagKind.COOKIE_STUFFING, customer, "hidden", of_all) for customer in hidden)
            continue
        # with a public network: a program that is tried out on one machine is quick, too
        group = [each for each in all_of_them if each.addresses]
        times = [(each, filter(None, (each.signup_at, each.first_purchase_at, each.created_at))) for each in group]
        waits = [(each, max(0.0, (min(first) - each.clicked_at).total_seconds())) for each, first in times]
        quick = [(customer, seconds) for customer, seconds in waits if seconds <= QUICK_SECONDS]
        if len(quick) >= FEWEST_QUICK and len(quick) >= LEAST_SHARE_QUICK * len(group):
            for customer, seconds in quick:
                evidence = {"seconds": round(seconds, 1), "customers": len(quick), "of": len(group)}
                yield FlagKind.COOKIE_STUFFING, customer, "quick", evidence


def _clicks(earning: Customers, paid_ads: PaidAds) -> Iterator[Sign]:
    """Yield the customers whose own click belongs to a flood, or came from a search ad where the terms forbid it."""
    for customer in earning:
        if customer.filtered == FLOOD:
            clicked_at = {"clicked_at": customer.clicked_at.isoformat()}
            yield FlagKind.CLICK_FLOODING, customer, f"{customer.clicked_at:%Y-%m-%dT%H}", clicked_at
        markers = SEARCH_ADS & {*(customer.ad_markers or "").split(",")}
        if markers and paid_ads == PaidAds.FORBIDDEN:
            hosts = [customer.referrer_host] if customer.referrer_host else []
            yield FlagKind.BRAND_BIDDING, customer, "ads", {"ad_markers": sorted(markers), "referrer_hosts": hosts}
