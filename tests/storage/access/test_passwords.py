"""Which passwords are accepted, and how they are stored."""

import pytest
from argon2 import PasswordHasher

from storage.access import passwords
from storage.rules.errors import ValidationError


@pytest.mark.parametrize(
    "password", ["nine char", "x" * 513, "1234567890", "Password123!", "aaaaaaaaaaaa", "olga@acme.example"]
)
def test_a_short_or_common_password_is_rejected_by_name_of_its_field(password: str):
    with pytest.raises(ValidationError) as rejection:
        passwords.protect_new(password, email="olga@acme.example", field="new_password")

    assert [field.field for field in rejection.value.fields] == ["new_password"]
    assert password not in rejection.value.fields[0].message


@pytest.mark.parametrize("password", ["x9$kQ2!mZp", "lighthouse " * 40 + "end"])
def test_a_long_uncommon_password_is_accepted(password: str):
    assert passwords.matches(passwords.protect_new(password, email="olga@acme.example"), password)


def test_earlier_hashes_and_shorter_passwords_still_match():
    earlier = PasswordHasher(time_cost=3, memory_cost=64 * 1024, parallelism=4).hash("8 letter")

    assert passwords.matches(earlier, "8 letter")
    assert not passwords.matches(earlier, "8 lettes")
    assert passwords.protect("x").startswith("$argon2id$")
