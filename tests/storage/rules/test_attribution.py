"""Partner codes, windows, and which click a visitor keeps."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.rules import attribution
from storage.rules.attribution import AttributionModel
from storage.rules.errors import AffMissing, InvalidAffiliateUrl

NOW = datetime(2026, 5, 20, tzinfo=UTC)


@pytest.mark.parametrize(
    "url", ["https://a.example/?aff=anna", "http://a.example/x?b=1&aff=anna#top", "https://a.example?aff=%61nna"]
)
def test_the_code_is_read_from_the_landing_page(url: str):
    assert attribution.link_code(url).code == "anna"


@pytest.mark.parametrize(
    "url", ["", "a.example/?aff=anna", "ftp://a.example/?aff=anna", "https://?aff=anna", "http://[::"]
)
def test_a_url_that_is_not_absolute_http_is_rejected(url: str):
    with pytest.raises(InvalidAffiliateUrl):
        attribution.link_code(url)


@pytest.mark.parametrize("url", ["https://a.example/", "https://a.example/?aff=", "https://a.example/?AFF=anna"])
def test_a_url_without_a_code_is_rejected(url: str):
    with pytest.raises(AffMissing):
        attribution.link_code(url)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("via=anna", ("anna", "via")),
        ("ref=blog&via=anna", ("anna", "via")),
        ("via=ben&aff=anna", ("anna", "aff")),
        ("aff=&fpr=anna", ("anna", "fpr")),
        ("ref=anna", ("anna", "ref")),
    ],
)
def test_a_link_of_another_tool_carries_a_code_too(query: str, found: tuple[str, str]):
    assert attribution.link_code(f"https://a.example/?{query}") == found


@given(st.text(max_size=100))
def test_no_text_makes_the_reader_fail_in_another_way(text: str):
    try:
        assert attribution.link_code(text)
    except (AffMissing, InvalidAffiliateUrl):
        return


@pytest.mark.parametrize(
    ("model", "same_partner", "keeps"),
    [
        (AttributionModel.LAST_CLICK, True, True),
        (AttributionModel.LAST_CLICK, False, False),
        (AttributionModel.FIRST_CLICK, True, True),
        (AttributionModel.FIRST_CLICK, False, True),
    ],
)
def test_the_model_decides_between_two_partners(model: AttributionModel, same_partner: bool, keeps: bool):  # noqa: FBT001 - a row
    assert attribution.keeps_existing(model, same_partner=same_partner) is keeps


def test_the_window_includes_its_last_second():
    assert attribution.is_within(NOW, NOW + timedelta(days=60), 60)
    assert not attribution.is_within(NOW, NOW + timedelta(days=60, milliseconds=1), 60)
