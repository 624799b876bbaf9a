"""An existing customer is claimed as new: they bought before the partner's click."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import timedelta

from storage.rules.fraud.facts import CustomerFacts, about_customer
from storage.rules.fraud.flag import Finding, FlagKind

REASON = "A customer with the same e-mail address bought before the partner's click."
AT_LEAST_BEFORE = timedelta(days=1)  # two accounts on one day can be a mistake at the sign-up


def find(customers: Sequence[CustomerFacts]) -> Iterator[Finding]:
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
