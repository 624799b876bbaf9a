"""A shared click: one click id is sent for many customers, as when a partner plants it in every link."""

from collections.abc import Iterator, Sequence

from storage.rules.fraud.facts import CustomerFacts, about_customer
from storage.rules.fraud.flag import Finding, FlagKind

REASON = "One click was reported for several customers. A click belongs to one visitor."
FEWEST_KEYS = 4  # a visitor may change their key once or twice


def find(customers: Sequence[CustomerFacts]) -> Iterator[Finding]:
    """Yield the customers whose click came with many customer keys."""
    for customer in customers:
        if customer.commission_id is not None and len(customer.keys) >= FEWEST_KEYS:
            yield about_customer(FlagKind.SHARED_CLICK, customer, {"customer_keys": len(customer.keys)})
