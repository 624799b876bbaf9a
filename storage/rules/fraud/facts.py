"""What the rules about fraud look at: customers, clicks, and what each partner brought."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from storage.rules.fraud.flag import Finding, FlagKind


class CustomerFacts(NamedTuple):
    """A customer. `addresses` are the network hashes of their click and browser leads.

    `commission_id` is the first commission that they earned their partner; None: they earned none.
    `keys` are all customer keys that calls sent together with their click.
    """

    id: int
    partner_id: int
    clicked_at: datetime
    created_at: datetime
    signup_at: datetime | None = None
    first_purchase_at: datetime | None = None
    email_hash: str | None = None
    addresses: frozenset[str] = frozenset()
    keys: frozenset[str] = frozenset()
    commission_id: int | None = None


class ClickFacts(NamedTuple):
    """A click that counts."""

    partner_id: int
    at: datetime
    address_hash: str | None = None
    ad_markers: str | None = None
    referrer_host: str | None = None
    viewport_size: str | None = None


class PartnerCounts(NamedTuple):
    """What a partner brought in a period."""

    partner_id: int
    clicks: int = 0
    conversions: int = 0
    sales: int = 0
    refunded_sales: int = 0


def about_customer(kind: FlagKind, customer: CustomerFacts, evidence: Mapping[str, Any]) -> Finding:
    """Return a finding that concerns all commissions of a customer."""
    return Finding(
        kind=kind,
        subject=f"customer:{customer.id}",
        partner_id=customer.partner_id,
        held_from=min(customer.created_at, customer.clicked_at),
        evidence=evidence,
        customer_id=customer.id,
        commission_id=customer.commission_id,
    )


def about_partner(
    kind: FlagKind, partner_id: int, start: datetime, evidence: Mapping[str, Any], *, period: str
) -> Finding:
    """Return a finding that concerns a partner's commissions since the start of a period; one for each period."""
    return Finding(
        kind=kind, subject=f"partner:{partner_id}:{period}", partner_id=partner_id, held_from=start, evidence=evidence
    )
