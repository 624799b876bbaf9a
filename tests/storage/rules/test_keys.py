"""Keys, their masks and hashes; click ids."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.rules import keys

NOW = datetime(2026, 5, 20, tzinfo=UTC)


def test_a_key_has_its_prefix_and_is_never_the_same_twice():
    made = {keys.generate(keys.PROGRAM_PREFIX) for _ in range(100)}

    assert len(made) == 100
    assert all(key.startswith("aff_") and len(key) > 40 for key in made)


def test_a_mask_shows_only_the_prefix_and_the_last_characters():
    assert keys.mask("aff_", "x9Qz") == "aff_••••x9Qz"


@given(st.integers(1, 10**12))
def test_a_program_key_names_its_program(program_id: int):
    assert keys.key_program(keys.generate_program_key(program_id)) == program_id


@pytest.mark.parametrize(
    "secret", ["", "aff_", "aff_12", "agt_12_secret", "aff_x_secret", "aff_\u00b2_s", "aff_" + "1" * 16 + "_s"]
)
def test_a_key_without_a_program_names_none(secret: str):
    assert keys.key_program(secret) is None


@given(st.integers(1, 2**53))
def test_a_click_id_names_its_program(program_id: int):
    assert keys.click_program(keys.click_id(program_id, NOW)) == program_id


@given(st.integers(0, 10**9), st.integers(1, 10**9))
def test_click_ids_sort_in_the_order_of_time(first: int, later: int):
    earlier = keys.click_id(7, NOW + timedelta(milliseconds=first))

    assert earlier < keys.click_id(7, NOW + timedelta(milliseconds=first + later))


def test_a_click_id_has_eighty_random_bits():
    made = {keys.click_id(1, NOW)[12:32] for _ in range(100)}

    assert len(made) == 100


@given(st.text(max_size=60))
def test_no_text_makes_the_click_parser_fail(text: str):
    assert keys.click_program(text) is None or "-" in text
