"""Every error says what went wrong and what to do, in whole sentences."""

import pytest

from storage.rules import errors
from storage.rules.errors import ServiceError


@pytest.mark.parametrize("error", ServiceError.__subclasses__(), ids=lambda error: error.code)
def test_every_error_has_a_message_and_a_hint(error: type[ServiceError]):
    for text in (error.message, error.hint):
        assert text[0] == text.strip()[0]
        assert text.endswith(".")


def test_every_code_belongs_to_one_class():
    assert len(errors.CODES) == len(set(ServiceError.__subclasses__()))
    assert all(errors.hint_of(code) for code in errors.CODES)


def test_a_code_of_another_version_has_no_hint():
    assert errors.hint_of("a_code_of_the_future") is None
