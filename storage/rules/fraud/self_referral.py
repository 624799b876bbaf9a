"""Self-referral: a partner is their own customer."""

from collections.abc import Iterator, Mapping, Sequence

from storage.rules.fraud.facts import CustomerFacts, about_customer
from storage.rules.fraud.flag import Finding, FlagKind

REASON = "The customer has the partner's e-mail address, or came from the network that the partner's own purchase did."


def find(customers: Sequence[CustomerFacts], partner_emails: Mapping[int, str]) -> Iterator[Finding]:
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
