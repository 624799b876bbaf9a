"""What a click can be grouped by, from the texts that a visitor sent."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.rules import dimensions
from storage.rules.dimensions import NOWHERE, Agent, Location

UNKNOWN = Agent()
LINK = "https://acme.example/pricing?aff=anna"


def described(
    url: str = LINK, agent: Agent = UNKNOWN, place: Location = NOWHERE, language: str | None = None
) -> dict[str, Any]:
    parsed: dict[str, Any] = json.loads(dimensions.describe(url, agent, place, language))
    return parsed


def test_a_click_carries_its_path_campaign_agent_place_and_language():
    url = f"{LINK}&utm_source=letter&utm_medium=e-mail&utm_campaign=spring%20sale&utm_term=a&utm_content=b#utm_term=c"

    assert described(url, Agent("mobile", "Safari", "iOS"), Location("DE", "DE-BE"), "de-AT") == {
        "landing_path": "/pricing",
        "utm_source": "letter",
        "utm_medium": "e-mail",
        "utm_campaign": "spring sale",
        "utm_term": "a",
        "utm_content": "b",
        "device": "mobile",
        "browser": "Safari",
        "os": "iOS",
        "country": "DE",
        "region": "DE-BE",
        "language": "de",
    }


def test_the_first_of_a_repeated_field_counts_and_what_a_click_lacks_is_left_out():
    link = f"{LINK}&campaign=may%20video&campaign=june"

    assert described(link) == {"landing_path": "/pricing", "campaign": "may video"}
    assert described("https://acme.example?aff=anna&utm_source=&utm_medium=%20") == {"landing_path": "/"}


def test_invisible_characters_are_removed_and_long_texts_cut():
    hostile = described(f"{LINK}&utm_source=%00%E2%80%AEevil%0A&utm_term={'%C3%A9' * 500}")

    assert hostile["utm_source"] == "evil"
    assert hostile["utm_term"] == "é" * 100


@pytest.mark.parametrize(
    ("sent", "tag"),
    [("de", "de"), ("fr-FR,fr;q=0.9", "fr"), ("english", None), ("x", None), ("e1", None)],
)
def test_a_language_is_its_primary_tag(sent: str, tag: str | None):
    assert described(language=sent).get("language") == tag


@pytest.mark.parametrize(
    ("country", "region", "place"),
    [
        ("us", "CA", Location("US", "US-CA")),
        ("US", "US-CA", Location("US", "US-CA")),
        ("DE", "<script>", Location("DE", None)),
        ("XX", "CA", NOWHERE),
        ("T1", None, NOWHERE),
        ("ÄÖ", None, NOWHERE),
    ],
)
def test_a_place_is_its_codes(country: str | None, region: str | None, place: Location):
    assert dimensions.place_of(country, region) == place


@given(st.text(max_size=600), st.text(max_size=50))
def test_any_url_and_language_give_short_printable_texts(url: str, language: str):
    for sent in (url, f"https://a.example/{url}?x=1&utm_source={url}"):
        values = described(sent, language=language).values()

        assert all(value.isprintable() and 0 < len(value) <= 200 for value in values)
