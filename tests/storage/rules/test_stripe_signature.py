"""Stripe's signature: what its own library signs is accepted, everything else is not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stripe import WebhookSignature

from storage.rules import stripe_signature

NOW, SECRET, CONTENT = 1_790_000_000, "whsec_of_acme", b'{"id": "evt_1"}'
GOOD = WebhookSignature.generate_signature_header(CONTENT.decode(), SECRET, NOW)


def is_signed(header: str, *, content: bytes = CONTENT, secret: str = SECRET, now: float = NOW) -> bool:
    return stripe_signature.is_signed(content, header, secret, now=now)


@given(content=st.text(), secret=st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip))
def test_what_stripe_s_library_signs_is_accepted(content: str, secret: str):
    header = WebhookSignature.generate_signature_header(content, secret, NOW)

    assert is_signed(header, content=content.encode(), secret=secret)


def test_a_signature_counts_for_five_minutes():
    assert [is_signed(GOOD, now=NOW + seconds) for seconds in (-301, -300, 300, 301)] == [False, True, True, False]


def test_one_good_signature_among_several_is_enough():
    stamp, _, signature = GOOD.partition(",")

    assert is_signed(f"{stamp},v1={'0' * 64},{signature},v0=old")


@pytest.mark.parametrize(
    "header",
    ["", GOOD.partition(",")[0], GOOD.replace("v1=", "v0="), GOOD[:-1], GOOD.replace("t=1", "t=2"), "x" + GOOD],
)
def test_any_other_header_is_rejected(header: str):
    assert not is_signed(header)


def test_changed_bytes_and_other_secrets_are_rejected():
    assert not is_signed(GOOD, content=CONTENT + b" ")
    assert not is_signed(GOOD, secret="whsec_of_another")
    assert not is_signed(WebhookSignature.generate_signature_header(CONTENT.decode(), " ", NOW), secret=" ")
