"""Signs of fraud: abuse of every kind is found, ordinary behaviour is not, and hostile text never raises."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from storage.rules.attribution import PaidAds
from storage.rules.fraud.customer_signs import CustomerFacts, signs_in_customers
from storage.rules.fraud.flag import REASONS, FlagKind
from storage.rules.fraud.partner_signs import Flood, PartnerCounts, floods, signs_in_counts
from tests.tables import table

DAY = datetime(2026, 5, 20, tzinfo=UTC)
CLICKED = DAY + timedelta(hours=9)
ANNA, BEN = 1, 2
CASES: dict[str, Any] = table("storage/rules/fraud.json")
EMAILS = {ANNA: "hash of anna", BEN: "hash of ben"}


def customer(number: int, fields: dict[str, Any]) -> CustomerFacts:
    """Return a customer of Anna's who signed up an hour after the click, and earned her a commission.

    Times are in seconds from the click.
    """
    facts: dict[str, Any] = {"partner_id": ANNA, "commission_id": 100 + number, "keys": [f"user-{number}"]}
    facts |= {"clicked_at": 0, "created_at": 3_600, "signup_at": 3_600}
    facts |= {"email_hash": f"hash of {number}", "addresses": [f"network {number}"], **fields}
    times = {name: CLICKED + timedelta(seconds=value) for name, value in facts.items() if name.endswith("_at")}
    sets = {name: frozenset(value) for name, value in facts.items() if isinstance(value, list)}
    return CustomerFacts(number, **facts | times | sets)


def clicks(count: int, of: int = ANNA, address_hash: str | None = None) -> list[tuple[int, datetime, str | None]]:
    """Return clicks of a partner within a minute, from one network, or each from one of its own."""
    return [(of, CLICKED, address_hash or f"network {number}") for number in range(count)]


def of_counts(*counts: PartnerCounts) -> list[tuple[FlagKind, int]]:
    return [(each.kind, each.partner_id) for each in signs_in_counts(counts, DAY)]


@pytest.mark.parametrize("what", CASES)
def test_abuse_by_customers_is_found_and_ordinary_behaviour_is_not(what: str):
    for case in CASES[what]:
        customers = [customer(n, fields) for first, last, fields in case["customers"] for n in range(first, last + 1)]
        found: dict[str, list[int | None]] = {}

        for each in signs_in_customers(customers, EMAILS, PaidAds(case.get("ads", "allowed"))):
            found.setdefault(each.kind, []).append(each.customer_id)

        assert found == case["found"], case


def test_a_flood_of_clicks_from_one_network_is_found_unless_it_is_a_carrier_s_among_many():
    flood, found = clicks(101, address_hash="one network"), Flood(ANNA, CLICKED, "one network")

    assert floods(flood + clicks(50)) == [found]
    assert floods(flood + clicks(500)) == floods(flood[:99] + clicks(500)) == floods(flood[1:]) == []


def test_rates_far_from_those_of_other_partners_are_found():
    usual = PartnerCounts(BEN, clicks=1000, conversions=40, sales=100, refunded_sales=4)
    others = [PartnerCounts(number, clicks=500, conversions=20) for number in (BEN, 3)]
    conversion, refund = [(FlagKind.UNUSUAL_CONVERSION_RATE, ANNA)], [(FlagKind.UNUSUAL_REFUND_RATE, ANNA)]

    assert of_counts(usual, PartnerCounts(ANNA, clicks=50, conversions=30)) == conversion
    assert of_counts(*others, PartnerCounts(ANNA, clicks=2000, conversions=5)) == conversion
    assert of_counts(usual, PartnerCounts(ANNA, clicks=500, sales=20, refunded_sales=8, conversions=20)) == refund
    assert of_counts(usual, PartnerCounts(ANNA, clicks=300, conversions=20, sales=20, refunded_sales=3)) == []
    assert of_counts(PartnerCounts(ANNA, clicks=100, conversions=100, sales=100, refunded_sales=100)) == []


def test_every_kind_has_a_reason():
    assert list(REASONS) == list(FlagKind)
    assert all(reason.endswith(".") for reason in REASONS.values())
