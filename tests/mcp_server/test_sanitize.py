"""Sanitizing: untrusted text becomes short, one line, visible and normalized."""

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from mcp_server.sanitize import LONGEST, clean
from tests.mcp_server.conftest import HOSTILE, INERT

CLEANED = {
    HOSTILE: INERT,
    "one\r\ntwo\tthree\u2028four\u2029five\x85six": "one two three four five six",
    "e\u0301": "\u00e9",
    "p\u202eay\u202c\u2066 me\u2069": "pay me",
    "zero\u200b\u200c\u200d\u2060\ufeff\u00ad\u034f\u3164width": "zerowidth",
    "tags \U000e0049\U000e0067 and \ufe0f\U000e0100 selectors": "tags and selectors",
    "\ud800lone\udfff": "lone",
    "\ue000private\U000f0000": "private",
    "x" * 300: "x" * 200,
}
ANY_TEXT = st.text(st.characters(exclude_categories=[]), max_size=400)  # lone surrogates too


@given(ANY_TEXT)
def test_any_text_is_sanitized(text: str):
    cleaned = clean(text)

    assert len(cleaned) <= LONGEST
    assert {unicodedata.category(character) for character in cleaned}.isdisjoint({"Cc", "Cf", "Co", "Cs", "Zl", "Zp"})
    assert cleaned == unicodedata.normalize("NFC", cleaned)
    assert cleaned == cleaned.strip()
    assert clean(cleaned) == cleaned
    cleaned.encode()


@given(st.text(st.characters(codec="ascii", categories=["L", "N", "P", "S"]), max_size=LONGEST))
def test_plain_text_stays_as_it_is(text: str):
    assert clean(text) == text


def test_invisible_characters_are_removed():
    assert {text: clean(text) for text in CLEANED} == CLEANED
