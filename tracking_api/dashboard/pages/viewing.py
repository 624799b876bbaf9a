"""Who views a page, and how it writes for them: in which time zone, with which hours, and by which locale."""

import re
from contextvars import ContextVar
from functools import lru_cache
from typing import NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from babel import Locale, UnknownLocaleError
from starlette.requests import Request

from storage.access.sessions import TimeFormat, Visitor
from storage.rules.periods.time_zones import UTC

DEFAULT = Locale.parse("en_US")
MOST_LANGUAGES = 10
_LANGUAGE = re.compile(r"\s*([A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,3})\s*(?:;\s*q=([01](?:\.\d{1,3})?)\s*)?")


class Clock(NamedTuple):
    """The zone and the format in which a page writes times, and the locale of its days and amounts."""

    zone: ZoneInfo
    hours: TimeFormat
    locale: Locale


_NO_VIEWER = Clock(ZoneInfo(UTC), TimeFormat.HOURS_24, DEFAULT)
_clock: ContextVar[Clock] = ContextVar("clock", default=_NO_VIEWER)


def show_to(request: Request, viewer: Visitor | None = None) -> None:
    """Write the times, days and amounts of the rest of a request for its viewer: first by what the browser says."""
    locale = locale_of(request.headers.get("accept-language", ""))
    clock = _NO_VIEWER._replace(locale=locale)
    if viewer:
        clock = Clock(_zone(viewer.workspace.time_zone), viewer.preferences.time_format, locale)
    _clock.set(clock)


def clock() -> Clock:
    """Return how this page writes times."""
    return _clock.get()


def zone_name() -> str:
    """Return what stands after a time: UTC, or Berlin time."""
    key = _clock.get().zone.key
    return key if key == UTC else f"{key.rpartition('/')[2].replace('_', ' ')} time"


def _zone(name: str) -> ZoneInfo:
    """Return a time zone, UTC if this server does not know it."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        return ZoneInfo(UTC)


@lru_cache(maxsize=256)
def locale_of(accepted: str) -> Locale:
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
