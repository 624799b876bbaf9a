"""The portal's words: a catalogue of TOML for each language, English in texts/en.toml; a translation is a file there.

What a translation lacks is in English.
"""

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from markupsafe import Markup, escape
from starlette.requests import Request

from tracking_api.dashboard.pages import text

FOLDER = Path(__file__).parent / "texts"
ENGLISH = "en"


@cache
def catalogue(language: str) -> Mapping[str, str]:
    """Return the texts of a language by name, `home.balance`; those of English where it has none."""
    path = FOLDER / f"{language}.toml"
    sections = tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    own = {f"{section}.{name}": text for section, texts in sections.items() for name, text in texts.items()}
    return own if language == ENGLISH else {**catalogue(ENGLISH), **own}


class Texts:
    """The texts of a language. `texts("home.paid_on", day=day)` fills in values, escaped for HTML."""

    def __init__(self, language: str) -> None:
        self.language = language if (FOLDER / f"{language}.toml").is_file() else ENGLISH
        self._texts = catalogue(self.language)

    def __call__(self, name: str, /, **values: Any) -> Markup:
        return escape(self._texts[name]).format(**values)

    def plain(self, name: str, /, **values: Any) -> str:
        """Return a text for e-mails and titles, which are no HTML."""
        return self._texts[name].format(**values)


def texts_for(request: Request) -> Texts:
    """Return the texts in the language of a browser."""
    text.show_to(request)
    return Texts(text.CLOCK.get().locale.language)
