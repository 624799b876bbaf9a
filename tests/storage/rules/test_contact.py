"""Of an e-mail address a hash and a mask are kept, never the address."""

from hypothesis import given
from hypothesis import strategies as st

from storage.rules import contact


def test_the_mask_shows_one_letter_and_the_domain():
    assert contact.protect("Jane@Example.com").mask == "j***@example.com"


def test_spelling_does_not_change_the_hash():
    assert contact.protect(" Jane@Example.com ").hash == contact.protect("jane@example.com").hash


@given(st.emails())
def test_the_mask_shows_only_the_first_letter_of_the_name(email: str):
    name, _, domain = email.lower().rpartition("@")

    kept = contact.protect(email)

    assert kept.mask == f"{name[:1]}***@{domain}"
