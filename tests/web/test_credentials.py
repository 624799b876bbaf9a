"""Credentials in request headers."""

import pytest

from web import credentials


@pytest.mark.parametrize("header", [None, "", "Bearer", "Bearer ", "Basic abc", "abc"])
def test_only_a_bearer_header_gives_a_credential(header: str | None):
    assert credentials.bearer(header) is None


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
def test_the_scheme_is_case_insensitive(scheme: str):
    assert credentials.bearer(f"{scheme} aff_1") == "aff_1"
