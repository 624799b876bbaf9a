"""The locale in which a page writes amounts and days: the first of the browser's languages that it can write."""

import re
from functools import lru_cache

from babel import Locale, UnknownLocaleError

DEFAULT = Locale.parse("en_US")
MOST_LANGUAGES = 10
_LANGUAGE = re.compile(r"\s*([A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,3})\s*(?:;\s*q=([01](?:\.\d{1,3})?)\s*)?")


@lru_cache(maxsize=256)
def negotiated(accepted: str) -> Locale:
    """Return the locale for an Accept-Language header; American English for one that names none.

    The pages are in English, from left to right and with figures in columns: other scripts' digits do not fit them.
    """
    sent = [found for each in accepted.split(",")[:MOST_LANGUAGES] if (found := _LANGUAGE.fullmatch(each))]
    preferred = sorted(sent, key=lambda found: -float(found[2] or 1))
    return next((locale for found in preferred if (locale := _parsed(found[1]))), DEFAULT)


def _parsed(language: str) -> Locale | None:
    try:
        locale = DEFAULT if language == "en" else Locale.parse(language, sep="-")
    except (UnknownLocaleError, ValueError):
        return None
    is_fitting = locale.character_order == "left-to-right" and locale.default_numbering_system == "latn"
    return locale if is_fitting else None
