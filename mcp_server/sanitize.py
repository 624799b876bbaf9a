"""Sanitize text that strangers wrote: it becomes inert and short before an assistant reads it."""

import re
import unicodedata
from datetime import datetime
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, JsonValue

from storage.rules.untrusted import UNTRUSTED

LONGEST = 200
_DROPPED = {"Cc", "Cf", "Co", "Cs"}  # control, format (joiners, bidirectional marks), private use, surrogates
# Code points that are drawn as nothing and yet are no format characters: joiners, fillers, variation selectors.
_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2065\u3164\ufe00-\ufe0f\uffa0\U000e0000-\U000e0fff]"
)


def clean(text: str) -> str:
    """Return a stranger's text on one line: NFC, only visible characters, at most 200 of them."""
    if not (text.isascii() and text.isprintable()):
        line = _UNSEEN.sub("", " ".join(text.split()))
        seen = (character for character in line if unicodedata.category(character) not in _DROPPED)
        text = unicodedata.normalize("NFC", "".join(seen))
    return " ".join(text.split())[:LONGEST].rstrip()


def clean_values(value: Any) -> Any:
    """Return JSON values with their texts cleaned, without None, and times as ISO 8601."""
    if isinstance(value, dict):
        return {name: clean_values(each) for name, each in value.items() if each is not None}
    if isinstance(value, list):
        return [clean_values(each) for each in value]
    if isinstance(value, datetime):
        return value.isoformat()
    return clean(value) if isinstance(value, str) else value


Untrusted = Annotated[str, AfterValidator(clean), Field(description=UNTRUSTED)]  # its schema says so
UntrustedValues = Annotated[dict[str, JsonValue], BeforeValidator(clean_values)]
