"""Keys, their masks, hashes and rotation; click ids."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.rules import keys, rotation
from storage.rules.rotation import Rotation

NOW = datetime(2026, 5, 20, tzinfo=UTC)


def test_keys_and_click_ids_are_never_the_same_twice_and_a_mask_hides_a_key():
    made = {keys.generate(keys.PROGRAM_PREFIX) for _ in range(100)}
    random_parts = {keys.click_id(1, NOW)[12:32] for _ in range(100)}

    assert len(made) == len(random_parts) == 100
    assert all(key.startswith("aff_") and len(key) > 40 for key in made)
    assert keys.mask("aff_", "x9Qz") == "aff_••••x9Qz"


@given(st.integers(1, 10**12))
def test_a_program_key_and_a_click_id_name_their_program(program_id: int):
    assert keys.key_program(keys.generate_program_key(program_id)) == program_id
    assert keys.click_program(keys.click_id(program_id, NOW)) == program_id


@pytest.mark.parametrize("secret", ["aff_12", "agt_12_secret", "aff_x_secret", "aff_\u00b2_s", f"aff_{'1' * 16}_s"])
def test_a_key_without_a_program_names_none(secret: str):
    assert keys.key_program(secret) is None


@given(st.integers(0, 10**9), st.integers(1, 10**9))
def test_click_ids_sort_in_the_order_of_time(first: int, later: int):
    earlier = keys.click_id(7, NOW + timedelta(milliseconds=first))

    assert earlier < keys.click_id(7, NOW + timedelta(milliseconds=first + later))


@given(st.text(max_size=60))
def test_no_text_makes_the_click_parser_fail(text: str):
    assert keys.click_program(text) is None or "-" in text


@pytest.mark.parametrize(
    ("rotate_by", "state"),
    [
        (None, Rotation.ACTIVE),
        (NOW + timedelta(milliseconds=1), Rotation.FLAGGED),
        (NOW, Rotation.EXPIRED),
        (NOW - timedelta(days=1), Rotation.EXPIRED),
    ],
)
def test_a_flagged_key_works_until_its_deadline_and_not_at_it(rotate_by: datetime | None, state: Rotation):
    assert rotation.state(rotate_by, NOW) == state
