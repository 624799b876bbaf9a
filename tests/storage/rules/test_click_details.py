"""What is kept of a visitor: of a click its parts and hashes, of an e-mail address a hash of it and of its mailbox."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from hypothesis import given
from hypothesis import strategies as st

from storage.rules import click_details, contact
from storage.rules.click_details import NOWHERE, Agent, Location
from storage.rules.contact import AddressHashes, is_email, protect

NOW = datetime(2026, 5, 20, 12, tzinfo=UTC)


def hash_of(address: str, *, at: datetime = NOW, secret: str = "a secret") -> str | None:
    return AddressHashes(lambda: secret).of(address, at)


def test_the_names_of_ad_markers_are_read_and_never_their_values_and_of_a_referrer_the_host():
    marked = "https://acme.example/?aff=anna&gclid=person-1&utm_source=x&fbclid=2#gbraid=3"

    assert click_details.ad_markers(marked) == "fbclid,gclid"
    assert click_details.ad_markers("https://acme.example/gclid?aff=anna&x=gclid") is None
    assert len(",".join(click_details.AD_MARKERS)) <= 128
    assert click_details.referrer_host("https://User:pass@News.Example:8443/private?q=1") == "news.example"
    assert click_details.ad_markers("https://acme.example/?aff=anna") is click_details.referrer_host(None) is None


def test_neighbours_in_a_network_have_one_hash_and_private_ip_addresses_none():
    assert hash_of("203.0.113.7") == hash_of("203.0.113.250") == hash_of("::ffff:203.0.113.9")
    assert hash_of("2001:db8:1:2::3") == hash_of("2001:db8:1:ffff::9")
    assert hash_of("203.0.113.7") != hash_of("203.0.112.7")
    assert hash_of("2001:db8:1::1") != hash_of("2001:db8:2::1")
    for address in ("127.0.0.1", "10.1.2.3", "169.254.1.1", "::1", "fd00::1", "unknown"):
        assert hash_of(address) is None, address


def test_the_hash_changes_every_day_and_with_the_secret_and_a_caller_s_only_with_the_secret():
    hashes = AddressHashes(lambda: "a secret")
    today, tomorrow = (hashes.of("203.0.113.7", NOW + timedelta(days=days)) for days in (0, 1))

    assert today != tomorrow
    assert hashes.of("203.0.113.7", NOW) == today
    assert hash_of("203.0.113.7", secret="another") != today
    assert hashes.of_caller("203.0.113.5") == hashes.of_caller("203.0.113.77")
    assert hashes.of_caller("203.0.113.5") != hashes.of_caller("203.0.114.5")
    assert hashes.of_caller("203.0.113.7") != today
    assert hashes.of_caller("10.0.0.1") is None


@given(st.text(), st.text(), st.text())
def test_hostile_text_never_raises_and_never_grows(landing: str, referrer: str, address: str):
    markers = click_details.ad_markers(f"https://acme.example/?aff=anna&{landing}")

    hash_of(address)
    assert len(click_details.referrer_host(referrer) or "") <= click_details.LONGEST_HOST
    assert set((markers or "gclid").split(",")) <= click_details.AD_MARKERS


@given(st.emails())
def test_of_an_e_mail_address_a_hash_of_any_spelling_and_a_mask_with_one_letter_are_kept(email: str):
    name, _, domain = email.lower().rpartition("@")

    kept = contact.protect(email)

    assert kept.email_mask == f"{name[:1]}***@{domain}"
    jane, again = (contact.protect(each).email_hash for each in (" Jane@Example.com ", "jane@example.com"))
    assert jane == again != kept.email_hash


UNKNOWN = Agent()
LINK = "https://acme.example/pricing?aff=anna"


def described(
    url: str = LINK, agent: Agent = UNKNOWN, place: Location = NOWHERE, language: str | None = None
) -> dict[str, Any]:
    return dict(json.loads(click_details.describe(url, agent, place, language)))


def test_a_click_carries_its_path_campaign_agent_place_and_language_the_first_of_a_repeated_field_and_nothing_else():
    campaign = {"utm_source": "letter", "utm_medium": "e-mail", "utm_campaign": "spring sale", "utm_term": "a"}
    url = f"{LINK}&{urlencode(campaign | {'utm_content': 'b'})}#utm_term=c"

    found = described(url, Agent("mobile", "Safari", "iOS"), Location("DE", "DE-BE"), "de-AT")

    visitor = {"device": "mobile", "browser": "Safari", "os": "iOS", "country": "DE", "region": "DE-BE"}
    assert found == campaign | visitor | {"landing_path": "/pricing", "utm_content": "b", "language": "de"}
    link = f"{LINK}&campaign=may%20video&campaign=june"
    assert described(link) == {"landing_path": "/pricing", "campaign": "may video"}
    assert described("https://acme.example?aff=anna&utm_source=&utm_medium=%20") == {"landing_path": "/"}


def test_invisible_characters_are_removed_long_texts_cut_and_of_a_language_and_a_place_the_codes_are_stored():
    hostile = described(f"{LINK}&utm_source=%00%E2%80%AEevil%0A&utm_term={'%C3%A9' * 500}")
    languages = {"de": "de", "fr-FR,fr;q=0.9": "fr", "english": None, "x": None, "e1": None}
    places = {
        ("us", "CA"): Location("US", "US-CA"),
        ("US", "US-CA"): Location("US", "US-CA"),
        ("DE", "<script>"): Location("DE", None),
        ("XX", "CA"): NOWHERE,
        ("T1", None): NOWHERE,
        ("ÄÖ", None): NOWHERE,
    }

    assert (hostile["utm_source"], hostile["utm_term"]) == ("evil", "é" * 100)
    assert {sent: described(language=sent).get("language") for sent in languages} == languages
    assert {sent: click_details.place_of(*sent) for sent in places} == places


WRITTEN = (" Jane@mail.example", "jane+shop@MAIL.example.", "\uff4aane\uff20mail.example", "ja\u200bne@mail.example")
ONE_MAILBOX = [
    ["jane@mail.example", *WRITTEN],
    ["jane.roe@gmail.com", "janeroe@gmail.com", "j.a.n.e.r.o.e+1@googlemail.com"],
    ["jane.roe@mail.example"],
    ["janeroe@mail.example"],
    ["+1@mail.example"],
]


def test_every_spelling_of_a_mailbox_has_one_hash_and_no_other_mailbox_has_it():
    assert all(is_email(email) for spellings in ONE_MAILBOX for email in spellings)
    hashes = [{protect(email).mailbox_hash for email in spellings} for spellings in ONE_MAILBOX]

    assert [len(each) for each in hashes] == [1] * len(hashes)
    assert len(set().union(*hashes)) == len(hashes)
    for email in ("jane+shop@mail.example", "j.ane@gmail.com"):
        assert protect(f" {email.upper()}").email_hash == protect(email).email_hash != protect(email).mailbox_hash
