"""What a customer key looks like, and which lead's key it was meant to be."""

import pytest

from storage.rules import key_format
from storage.rules.key_format import Difference, KeyFormat, LeadKeys

UUID = "3f2b8c1e-7a44-4c0e-9d55-0a1b2c3d4e5f"


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        (UUID, KeyFormat.UUID),
        (UUID.replace("-", "").upper(), KeyFormat.UUID),
        ("4711", KeyFormat.INTEGER),
        ("anna@acme.example", KeyFormat.EMAIL),
        ("cus_NffrFeUfNV2Hib", KeyFormat.PROCESSOR_ID),
        ("user-17", KeyFormat.PREFIXED),
        ("annalindqvist", KeyFormat.OTHER),
    ],
)
def test_a_key_has_a_format(key: str, expected: KeyFormat):
    assert key_format.format_of(key) == expected


@pytest.mark.parametrize(
    ("lead_key", "sale_key", "difference"),
    [
        ("user-a", " USER-A ", Difference.LETTER_CASE),
        ("user-17", "17", Difference.PREFIX),
        ("17", "user_17", Difference.PREFIX),
        (UUID, UUID.replace("-", ""), Difference.PREFIX),
    ],
)
def test_the_lead_key_that_a_mismatched_key_stands_for_is_found(lead_key: str, sale_key: str, difference: Difference):
    mismatch = LeadKeys([lead_key]).mismatch(sale_key)

    assert mismatch is not None
    assert (mismatch.difference, mismatch.meant) == (difference, lead_key)


@pytest.mark.parametrize("sale_key", ["cus_NffrFeUfNV2Hib", "anna@acme.example", UUID])
def test_another_systems_id_is_a_difference_of_format(sale_key: str):
    mismatch = LeadKeys(["user-1", "user-2"]).mismatch(sale_key)

    assert mismatch is not None
    assert (mismatch.difference, mismatch.meant) == (Difference.SHAPE, None)
    assert LeadKeys([]).mismatch(sale_key) is None


@pytest.mark.parametrize(
    ("lead_keys", "sale_key"),
    [(["user-1"], "user-2"), (["1", "2"], "3"), (["user-17", "18"], "17"), (["anna"], "bob-7")],
)
def test_a_customer_without_a_partner_is_not_a_mismatch(lead_keys: list[str], sale_key: str):
    assert LeadKeys(lead_keys).mismatch(sale_key) is None
