"""Signs of fraud: abuse of every kind is found, ordinary behaviour is not, and hostile text never raises."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from storage.rules.attribution import PaidAds
from storage.rules.fraud.customer_signs import CustomerFacts, signs_in_customers
from storage.rules.fraud.flag import REASONS, Finding, FlagKind
from storage.rules.fraud.partner_signs import Flood, PartnerCounts, floods, signs_in_counts

DAY = datetime(2026, 5, 20, tzinfo=UTC)
CLICKED = DAY + timedelta(hours=9)
ANNA, BEN = 1, 2
EMAILS = {ANNA: "hash of anna", BEN: "hash of ben"}


def customer(number: int, **fields: Any) -> CustomerFacts:
    """Return a customer of Anna's who signed up an hour after the click, and earned her a commission."""
    later = CLICKED + timedelta(hours=1)
    ordinary: dict[str, Any] = {
        "partner_id": ANNA,
        "clicked_at": CLICKED,
        "created_at": later,
        "signup_at": later,
        "email_hash": f"hash of {number}",
        "addresses": frozenset({f"network {number}"}),
        "keys": frozenset({f"user-{number}"}),
        "commission_id": 100 + number,
    }
    return CustomerFacts(number, **{**ordinary, **fields})


def clicks(count: int, of: int = ANNA, address_hash: str | None = None) -> list[tuple[int, datetime, str | None]]:
    """Return clicks of a partner within a minute, from one network, or each from one of its own."""
    return [(of, CLICKED, address_hash or f"network {number}") for number in range(count)]


def kinds(findings: list[Finding]) -> dict[FlagKind, list[int | None]]:
    """Return the customers (or None) that each kind was found for."""
    found: dict[FlagKind, list[int | None]] = {}
    for each in findings:
        found.setdefault(each.kind, []).append(each.customer_id)
    return found


def of_customers(*customers: CustomerFacts, ads: PaidAds = PaidAds.ALLOWED) -> dict[FlagKind, list[int | None]]:
    return kinds(signs_in_customers(customers, EMAILS, ads))


def of_counts(*counts: PartnerCounts) -> list[tuple[FlagKind, int]]:
    return [(each.kind, each.partner_id) for each in signs_in_counts(counts, DAY)]


def test_a_partner_who_buys_through_their_own_link_is_found_by_e_mail():
    own = customer(1, email_hash="hash of anna")

    assert of_customers(own, customer(2), customer(3, email_hash="hash of ben")) == {FlagKind.SELF_REFERRAL: [1]}


def test_a_partner_s_second_account_is_found_by_the_network_of_the_first():
    own = customer(1, email_hash="hash of anna")
    second, elsewhere = customer(2, addresses=own.addresses), customer(3, addresses=own.addresses, partner_id=BEN)

    assert of_customers(own, second, elsewhere) == {FlagKind.SELF_REFERRAL: [1, 2]}


def test_three_customers_with_one_e_mail_address_are_found_and_two_are_not():
    same = [customer(number, email_hash="one hash") for number in range(3)]

    assert of_customers(*same) == {FlagKind.MANY_CUSTOMERS_ONE_SOURCE: [0, 1, 2]}
    assert of_customers(*same[:2]) == {}


def test_five_customers_from_one_network_are_found_unless_the_partner_has_many_others():
    same = [customer(number, addresses=frozenset({"one"})) for number in range(5)]
    others = [customer(number) for number in range(10, 30)]

    assert of_customers(*same, *others[:10]) == {FlagKind.MANY_CUSTOMERS_ONE_SOURCE: [0, 1, 2, 3, 4]}
    assert of_customers(*same, *others) == {}
    assert of_customers(*same[:4]) == {}


def test_a_click_with_four_customer_keys_is_shared():
    shared = customer(1, keys=frozenset("abcd"))

    assert of_customers(shared, customer(2, keys=frozenset("abc"))) == {FlagKind.SHARED_CLICK: [1]}


def test_a_customer_who_bought_before_the_click_is_not_new():
    before = customer(1, partner_id=BEN, first_purchase_at=CLICKED - timedelta(days=30))
    again = customer(2, email_hash=before.email_hash)
    same_day = customer(3, partner_id=BEN, first_purchase_at=CLICKED - timedelta(hours=2))
    retried = customer(4, email_hash=same_day.email_hash)

    assert of_customers(before, again, same_day, retried) == {FlagKind.EXISTING_CUSTOMER: [2]}


def test_customers_within_seconds_of_the_click_are_stuffed_where_most_are():
    quick = [customer(number, signup_at=CLICKED + timedelta(seconds=4)) for number in range(5)]
    slow = [customer(number) for number in range(10, 16)]

    assert of_customers(*quick, *slow[:5]) == {FlagKind.COOKIE_STUFFING: [0, 1, 2, 3, 4]}
    assert of_customers(*quick, *slow) == {}
    assert of_customers(*quick[:4]) == {}


def test_ordinary_customers_try_outs_and_customers_who_earned_nothing_are_no_sign():
    quick = [customer(number, signup_at=CLICKED, addresses=frozenset()) for number in range(9)]
    free = [customer(number, email_hash="hash of anna", commission_id=None) for number in range(9)]

    assert of_customers(*(customer(number) for number in range(50))) == {}
    assert of_customers(*quick) == {}
    assert of_customers(*free) == {}


def test_a_flood_of_clicks_from_one_network_and_its_customers_are_found_unless_it_is_a_carrier_s_among_many():
    flood, found = clicks(101, address_hash="one network"), Flood(ANNA, CLICKED, "one network")

    assert floods(flood + clicks(50)) == [found]
    assert floods(flood + clicks(500)) == floods(flood[:99] + clicks(500)) == floods(flood[1:]) == []
    assert of_customers(customer(1, filtered="flood"), customer(2)) == {FlagKind.CLICK_FLOODING: [1]}


@pytest.mark.parametrize("viewport_size", ["0x0", "1280x1"])
def test_customers_from_hidden_frames_are_stuffed_where_many_are(viewport_size: str):
    hidden = [customer(number, viewport_size=viewport_size) for number in range(5)]
    others = [customer(number, viewport_size="1280x720") for number in range(10, 31)]

    assert of_customers(*hidden, *others[1:]) == {FlagKind.COOKIE_STUFFING: [0, 1, 2, 3, 4]}
    assert of_customers(*hidden, *others) == of_customers(*hidden[1:]) == {}


def test_customers_from_search_ads_are_found_only_where_the_terms_forbid_them():
    bought = customer(1, ad_markers="fbclid,gclid", referrer_host="www.google.example")
    shared = customer(2, ad_markers="fbclid")  # Facebook adds it to every link

    assert of_customers(bought, shared, ads=PaidAds.FORBIDDEN) == {FlagKind.BRAND_BIDDING: [1]}
    assert of_customers(bought, shared) == {}


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
