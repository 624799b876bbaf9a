"""Cookie stuffing: a page sets the partner's click in visitors who never chose their link."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime

from storage.rules.fraud.facts import ClickFacts, CustomerFacts, about_customer, about_partner
from storage.rules.fraud.flag import Finding, FlagKind

REASON = "Clicks came from hidden frames, or customers signed up or paid within seconds of the click."
SECONDS = 10
FEWEST_QUICK = 5
LEAST_SHARE_QUICK = 0.5  # of the partner's customers that are compared
FEWEST_HIDDEN = 20
LEAST_SHARE_HIDDEN = 0.2  # of the partner's clicks of the day
LARGEST_HIDDEN = 10  # pixels: a window of this width or height is too small to read a page in
_SIZE = re.compile(r"([0-9]{1,5})x([0-9]{1,5})")


def find_in_customers(customers: Sequence[CustomerFacts]) -> Iterator[Finding]:
    """Yield the customers who converted within seconds, where most of a partner's customers did.

    Only customers with a public network count: a program that is tried out on one machine is quick, too.
    """
    compared: dict[int, list[CustomerFacts]] = defaultdict(list)
    for customer in customers:
        if customer.commission_id is not None and customer.addresses:
            compared[customer.partner_id].append(customer)
    for group in compared.values():
        quick = [(customer, seconds) for customer in group if (seconds := _seconds(customer)) <= SECONDS]
        if len(quick) >= FEWEST_QUICK and len(quick) >= LEAST_SHARE_QUICK * len(group):
            for customer, seconds in quick:
                evidence = {"seconds": round(seconds, 1), "customers": len(quick), "of": len(group)}
                yield about_customer(FlagKind.COOKIE_STUFFING, customer, evidence)


def find_in_clicks(clicks: Sequence[ClickFacts], start: datetime, *, period: str) -> Iterator[Finding]:
    """Yield the partners of whom many clicks came from a window that is too small to see."""
    total = Counter(click.partner_id for click in clicks)
    hidden = Counter(click.partner_id for click in clicks if is_hidden(click.viewport_size))
    for partner_id, count in hidden.items():
        if count >= FEWEST_HIDDEN and count >= LEAST_SHARE_HIDDEN * total[partner_id]:
            evidence = {"hidden_clicks": count, "of": total[partner_id]}
            yield about_partner(FlagKind.COOKIE_STUFFING, partner_id, start, evidence, period=period)


def is_hidden(viewport_size: str | None) -> bool:
    """Say whether a viewport is too small to be seen."""
    size = _SIZE.fullmatch(viewport_size or "")
    return size is not None and min(int(size[1]), int(size[2])) <= LARGEST_HIDDEN


def _seconds(customer: CustomerFacts) -> float:
    first = min(at for at in (customer.signup_at, customer.first_purchase_at, customer.created_at) if at)
    return max(0.0, (first - customer.clicked_at).total_seconds())
