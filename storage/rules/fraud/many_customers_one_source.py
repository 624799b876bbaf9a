"""Many customers from one source: one person signs up several times."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from storage.rules.fraud.facts import CustomerFacts, about_customer
from storage.rules.fraud.flag import Finding, FlagKind

REASON = "Several customers of the partner have one e-mail address, or came from one network on one day."
FEWEST_OF_EMAIL = 3
FEWEST_OF_NETWORK = 5  # a /24 or /48 can be an office or a school
LEAST_SHARE_OF_NETWORK = 0.25  # of the partner's customers of the day: a large partner has several in one network
MOST_NAMED = 10


def find(customers: Sequence[CustomerFacts]) -> Iterator[Finding]:
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
