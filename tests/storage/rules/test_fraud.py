"""Signs of fraud: abuse of every kind is found, ordinary behaviour is not, and hostile text never raises."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.rules.attribution import PaidAds
from storage.rules.fraud import flag
from storage.rules.fraud.customer_signs import CustomerFacts, signs_in_customers
from storage.rules.fraud.flag import REASONS, Finding, FlagKind, FlagState
from storage.rules.fraud.partner_signs import ClickFacts, PartnerCounts, signs_in_clicks, signs_in_counts

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


def clicks(count: int, partner_id: int = ANNA, **fields: Any) -> list[ClickFacts]:
    """Return clicks of a partner within a minute, each from a network of its own."""
    ordinary: dict[str, Any] = {"viewport_size": "1280x720"}
    return [
        ClickFacts(partner_id, CLICKED, **{**ordinary, "address_hash": f"network {partner_id}/{number}", **fields})
        for number in range(count)
    ]


def kinds(findings: list[Finding]) -> dict[FlagKind, list[int | None]]:
    """Return the customers (or None) that each kind was found for."""
    found: dict[FlagKind, list[int | None]] = {}
    for each in findings:
        found.setdefault(each.kind, []).append(each.customer_id)
    return found


def of_customers(*customers: CustomerFacts) -> dict[FlagKind, list[int | None]]:
    return kinds(signs_in_customers(customers, EMAILS))


def of_clicks(found: list[ClickFacts], paid_ads: PaidAds = PaidAds.FORBIDDEN) -> list[FlagKind]:
    return [each.kind for each in signs_in_clicks(found, DAY, paid_ads=paid_ads)]


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


def test_a_flood_of_clicks_from_one_network_is_found_unless_it_is_a_carrier_s_among_many():
    flood = clicks(101, address_hash="one network")

    assert of_clicks(flood + clicks(50)) == [FlagKind.CLICK_FLOODING]
    assert of_clicks(flood + clicks(500)) == []
    assert of_clicks(flood[:99] + clicks(500)) == []


@pytest.mark.parametrize("viewport_size", ["0x0", "1280x1"])
def test_clicks_in_hidden_frames_are_stuffing(viewport_size: str):
    assert of_clicks(clicks(20, viewport_size=viewport_size) + clicks(20)) == [FlagKind.COOKIE_STUFFING]
    assert of_clicks(clicks(19, viewport_size=viewport_size)) == []


def test_search_ads_are_found_only_where_the_terms_forbid_them():
    bought = clicks(3, ad_markers="fbclid,gclid", referrer_host="www.google.example")

    assert of_clicks(bought) == [FlagKind.BRAND_BIDDING]
    assert of_clicks(bought, PaidAds.ALLOWED) == []
    assert of_clicks(clicks(50, ad_markers="fbclid")) == []  # Facebook adds it to every link


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


@dataclass
class Commission:
    """What a flag may hold."""

    partner_id: int = ANNA
    customer_id: int = 1
    created_at: datetime = CLICKED
    id: int = 1


@dataclass
class Flag:
    """What may hold a commission."""

    partner_id: int = ANNA
    customer_id: int | None = 1
    held_from: datetime = DAY
    state: FlagState = FlagState.OPEN
    kind: FlagKind = FlagKind.SHARED_CLICK
    commission_id: int = 1


def test_a_flag_holds_only_the_commissions_that_it_concerns():
    assert flag.holds(Flag(), Commission())
    assert not flag.holds(Flag(), Commission(customer_id=2))
    assert flag.holds(Flag(customer_id=None), Commission(customer_id=2))
    assert not flag.holds(Flag(customer_id=None), Commission(partner_id=BEN))
    assert not flag.holds(Flag(customer_id=None), Commission(created_at=DAY - timedelta(seconds=1)))
    assert not flag.holds(Flag(state=FlagState.DISMISSED), Commission())
    assert flag.holds(Flag(state=FlagState.CONFIRMED), Commission())
    assert not flag.holds(Flag(state=FlagState.CONFIRMED, customer_id=None), Commission())
    assert flag.holds(Flag(kind=FlagKind.POSSIBLE_DUPLICATE), Commission(id=1))
    assert not flag.holds(Flag(kind=FlagKind.POSSIBLE_DUPLICATE), Commission(id=2))


@given(st.lists(st.text(), min_size=5, max_size=5))
def test_hostile_text_never_raises(texts: list[str]):
    first, second, third, fourth, fifth = texts
    hostile = [
        customer(number, email_hash=first, addresses=frozenset({second, third}), keys=frozenset(texts))
        for number in range(6)
    ]
    visits = clicks(25, address_hash=first, ad_markers=second, referrer_host=third, viewport_size=fourth)

    found = signs_in_customers(hostile, {ANNA: fifth})
    found += signs_in_clicks(visits, DAY, paid_ads=PaidAds.FORBIDDEN)

    assert all(len(each.subject) <= 128 and each.kind in FlagKind for each in found)
