"""Signs of fraud among customers: partners who buy themselves, one person as many, planted clicks, old customers."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta

from storage.rules.fraud.facts import CustomerFacts, about_customer
from storage.rules.fraud.flag import Finding, FlagKind

FEWEST_OF_EMAIL = 3
FEWEST_OF_NETWORK = 5  # a /24 or /48 can be an office or a school
LEAST_SHARE_OF_NETWORK = 0.25  # of the partner's customers of the day: a large partner has several in one network
MOST_NAMED = 10
FEWEST_KEYS = 4  # a visitor may change their key once or twice
AT_LEAST_BEFORE = timedelta(days=1)  # two accounts on one day can be a mistake at the sign-up
QUICK_SECONDS = 10
FEWEST_QUICK = 5
LEAST_SHARE_QUICK = 0.5  # of the partner's customers that are compared


def signs_in_customers(customers: Sequence[CustomerFacts], partner_emails: Mapping[int, str]) -> list[Finding]:
    """Return the signs of fraud among customers; `partner_emails` are the partners' e-mail hashes."""
    return [
        *_self_referrals(customers, partner_emails),
        *_many_of_one_source(customers),
        *_shared_clicks(customers),
        *_existing_customers(customers),
        *_stuffed_cookies(customers),
    ]


def _self_referrals(customers: Sequence[CustomerFacts], partner_emails: Mapping[int, str]) -> Iterator[Finding]:
    """Yield the customers who are the partner. A network counts only on the day when the partner used it."""
    own = [each for each in customers if each.email_hash and each.email_hash == partner_emails.get(each.partner_id)]
    networks = {(each.partner_id, address) for each in own for address in each.addresses}
    for customer in customers:
        if customer.commission_id is None:
            continue
        by_email = customer in own
        if by_email or any((customer.partner_id, address) in networks for address in customer.addresses):
            evidence = {"same": "email" if by_email else "address"}
            yield about_customer(FlagKind.SELF_REFERRAL, customer, evidence)


def _many_of_one_source(customers: Sequence[CustomerFacts]) -> Iterator[Finding]:
    """Yield every paying customer of a group with one e-mail address or one network."""
    by_source: dict[tuple[int, str, str], list[CustomerFacts]] = defaultdict(list)
    for customer in customers:
        if customer.commission_id is not None:
            if customer.email_hash:
                by_source[customer.partner_id, "email", customer.email_hash].append(customer)
            for address in customer.addresses:
                by_source[customer.partner_id, "address", address].append(customer)
    flagged: set[int] = set()
    for (partner_id, source, _), group in sorted(by_source.items(), key=lambda each: each[0][1], reverse=True):
        if len(group) >= FEWEST_OF_EMAIL if source == "email" else _is_crowded(customers, partner_id, group):
            evidence = {
                "same": source,
                "customers": len(group),
                "customer_ids": sorted(each.id for each in group)[:MOST_NAMED],
            }
            for customer in group:
                if customer.id not in flagged:
                    flagged.add(customer.id)
                    yield about_customer(FlagKind.MANY_CUSTOMERS_ONE_SOURCE, customer, evidence)


def _is_crowded(customers: Sequence[CustomerFacts], partner_id: int, group: Sequence[CustomerFacts]) -> bool:
    days = {each.clicked_at.date() for each in group}
    of_days = [
        each
        for each in customers
        if each.partner_id == partner_id and each.commission_id is not None and each.clicked_at.date() in days
    ]
    return len(group) >= FEWEST_OF_NETWORK and len(group) >= LEAST_SHARE_OF_NETWORK * len(of_days)


def _shared_clicks(customers: Sequence[CustomerFacts]) -> Iterator[Finding]:
    """Yield the customers whose click came with many customer keys."""
    for customer in customers:
        if customer.commission_id is not None and len(customer.keys) >= FEWEST_KEYS:
            yield about_customer(FlagKind.SHARED_CLICK, customer, {"customer_keys": len(customer.keys)})


def _existing_customers(customers: Sequence[CustomerFacts]) -> Iterator[Finding]:
    """Yield the customers who had bought under another key."""
    by_email: dict[str, list[CustomerFacts]] = defaultdict(list)
    for customer in customers:
        if customer.email_hash:
            by_email[customer.email_hash].append(customer)
    for customer in customers:
        if customer.commission_id is None or not customer.email_hash:
            continue
        for known in by_email[customer.email_hash]:
            bought_at = known.first_purchase_at
            if known.id != customer.id and bought_at and bought_at + AT_LEAST_BEFORE <= customer.clicked_at:
                evidence = {
                    "known_customer_id": known.id,
                    "bought_at": bought_at.isoformat(),
                    "clicked_at": customer.clicked_at.isoformat(),
                }
                yield about_customer(FlagKind.EXISTING_CUSTOMER, customer, evidence)
                break


def _stuffed_cookies(customers: Sequence[CustomerFacts]) -> Iterator[Finding]:
    """Yield the customers who converted within seconds, where most of a partner's customers did.

    Only customers with a public network count: a program that is tried out on one machine is quick, too.
    """
    compared: dict[int, list[CustomerFacts]] = defaultdict(list)
    for customer in customers:
        if customer.commission_id is not None and customer.addresses:
            compared[customer.partner_id].append(customer)
    for group in compared.values():
        quick = [(customer, seconds) for customer in group if (seconds := _seconds(customer)) <= QUICK_SECONDS]
        if len(quick) >= FEWEST_QUICK and len(quick) >= LEAST_SHARE_QUICK * len(group):
            for customer, seconds in quick:
                evidence = {"seconds": round(seconds, 1), "customers": len(quick), "of": len(group)}
                yield about_customer(FlagKind.COOKIE_STUFFING, customer, evidence)


def _seconds(customer: CustomerFacts) -> float:
    first = min(at for at in (customer.signup_at, customer.first_purchase_at, customer.created_at) if at)
    return max(0.0, (first - customer.clicked_at).total_seconds())
