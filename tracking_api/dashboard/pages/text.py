"""How pages write values for their viewer: money, numbers, days and timestamps, and untrusted text, sanitized."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from contextvars import ContextVar
from datetime import date, datetime
from decimal import Decimal
from functools import lru_cache
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import segno
from babel import Locale, UnknownLocaleError
from babel.dates import format_date, format_skeleton
from babel.numbers import format_currency, format_decimal
from markupsafe import Markup, escape
from starlette.requests import Request

from storage.access.sessions import TimeFormat, Visitor
from storage.rules.periods.time_zones import UTC
from storage.rules.reports import metrics
from storage.tracking import currencies
from tracking_api.calls.visitors import agent_of

LONGEST = 160
_GROUPED = re.compile(r"-?\d{1,3}(,\d{3})+(\.\d*)?", re.ASCII)
LARGEST_TREND = 999
MOST_KEPT = 8192
_TICKED = re.compile(r"`([^`]*)`")
DEFAULT = Locale.parse("en_US")
MOST_LANGUAGES = 10
_LANGUAGE = re.compile(r"\s*([A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,3})\s*(?:;\s*q=([01](?:\.\d{1,3})?)\s*)?")


class Clock(NamedTuple):
    """The zone and the format in which a page writes times, and the locale of its days and amounts."""

    zone: ZoneInfo
    hours: TimeFormat
    locale: Locale


_NO_VIEWER = Clock(ZoneInfo(UTC), "24", DEFAULT)
CLOCK: ContextVar[Clock] = ContextVar("clock", default=_NO_VIEWER)


def show_to(request: Request, viewer: Visitor | None = None) -> None:
    """Write the times, days and amounts of the rest of a request for its viewer: first by what the browser says."""
    locale = _locale_of(request.headers.get("accept-language", ""))
    zone = _NO_VIEWER.zone
    hours = viewer.preferences.time_format if viewer else _NO_VIEWER.hours
    if viewer:
        with suppress(ZoneInfoNotFoundError, ValueError):  # this server does not know it
            zone = ZoneInfo(viewer.workspace.time_zone)
    CLOCK.set(Clock(zone, hours, locale))


def zone_name() -> str:
    """Return what stands after a time: UTC, or Berlin time."""
    key = CLOCK.get().zone.key
    return key if key == UTC else f"{key.rpartition('/')[2].replace('_', ' ')} time"


@lru_cache(maxsize=256)
def _locale_of(accepted: str) -> Locale:
    """Return the locale for an Accept-Language header, one whose digits fit English pages; else American English."""
    sent = [found for each in accepted.split(",")[:MOST_LANGUAGES] if (found := _LANGUAGE.fullmatch(each))]
    for found in sorted(sent, key=lambda found: -float(found[2] or 1)):
        with suppress(UnknownLocaleError, ValueError):
            locale = DEFAULT if found[1] == "en" else Locale.parse(found[1], sep="-")
            if locale.character_order == "left-to-right" and locale.default_numbering_system == "latn":
                return locale
    return DEFAULT


major = lru_cache(MOST_KEPT, typed=True)(currencies.major)


def minor(amount: str, currency: str) -> int | str:
    """Return major units that a person wrote as minor ones; return other text unchanged.

    A comma separates thousands: 1,234.50. In 12,50 it may be a decimal point, so that is other text.
    """
    if "," in amount and not _GROUPED.fullmatch(amount):
        return amount
    try:
        cents = Decimal(amount.replace(",", "")).scaleb(currencies.digits(currency))
        return int(cents) if cents == int(cents) else amount
    except ArithmeticError:
        return amount


# Texts are kept: babel takes long, and a chart's table has hundreds.
_currency = lru_cache(MOST_KEPT)(format_currency)
_decimal = lru_cache(MOST_KEPT)(format_decimal)
_date = lru_cache(MOST_KEPT)(format_date)
_skeleton = lru_cache(MOST_KEPT)(format_skeleton)


def money(cents: int, currency: str) -> str:
    """Write an amount: $1,234.50, or 1.234,50 $."""
    return _currency(major(cents, currency), currency, locale=CLOCK.get().locale)


def number(value: float) -> str:
    """Write a count: 1,234, or 1.234."""
    return _decimal(value, locale=CLOCK.get().locale)


def day(value: date) -> str:
    """Write a day: May 5, 2026, or 05.05.2026."""
    return _date(value, "medium", locale=CLOCK.get().locale)


def short_day(value: date, skeleton: str = "MMMd") -> str:
    """Write a day without its year, or the part of it that a skeleton names: May 5."""
    return _skeleton(skeleton, value, locale=CLOCK.get().locale)


def percentage(value: float) -> str:
    """Write a percentage: 12.5%."""
    return f"{number(value)}%"


def timestamp(value: datetime) -> Markup:
    """Write a timestamp in the viewer's zone: May 5, 2026, 14:03, or 2:03 PM."""
    clock = CLOCK.get()
    local = value.astimezone(clock.zone)
    time = f"{local:%H:%M}" if clock.hours == "24" else f"{local.hour % 12 or 12}:{local:%M %p}"
    written = Markup('<time datetime="{}">{}, {}</time>')
    return written.format(value.isoformat(timespec="seconds").replace("+00:00", "Z"), day(local), time)


def words(value: str) -> str:
    """Write a word of the specification as a phrase: server_required is Server required."""
    return value.replace("_", " ").capitalize()


def country(code: str) -> str:
    """Write a country's code as its English name; a code that has none stays."""
    return DEFAULT.territories.get(code, plain(code))


def browser(client: str) -> str:
    """Write a user agent as its browser and system; what names neither stays."""
    agent = agent_of(client)
    return plain(f"{agent.browser} on {agent.os}" if agent.browser and agent.os else client)


def plain(value: object) -> str:
    """Return untrusted text without control, zero-width and direction characters, cut to 160 characters."""
    text = str(value)
    if not text.isprintable():
        text = "".join(character for character in text if not unicodedata.category(character).startswith("C"))
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def ticked(value: str) -> Markup:
    """Write `words in ticks` of our own guides as code; everything else is escaped."""
    return Markup(_TICKED.sub(r"<code>\1</code>", str(escape(value))))  # noqa: S704 - escaped in the line itself


def qr_code(value: str) -> Markup:
    """Draw a text as a QR code, dark on white."""
    return Markup(segno.make(value, micro=False).svg_inline(scale=4, light="white"))  # noqa: S704 - of squares alone


def percent(change: metrics.Trend) -> str:
    """Write the size of a change: 12.5%; what began with nothing is new, and over 999 % the size says no more."""
    if change.direction == metrics.Direction.STABLE:
        return "no change"
    if change.percent is None:
        return "new"
    return "over 999%" if change.percent > LARGEST_TREND else percentage(change.percent)


def pairs(each: Iterable[str]) -> list[tuple[str, str]]:
    """Return words as options: what is sent, and how it is written."""
    return [(str(value), words(value)) for value in each]


_AMOUNTS, _TIMES = (major, money, number, percent, percentage), (day, short_day, timestamp)
_TEXTS = (browser, pairs, plain, qr_code, ticked, words)
FILTERS: Mapping[str, Callable[..., Any]] = {each.__name__: each for each in (*_AMOUNTS, *_TIMES, *_TEXTS)} | {
    "compared": metrics.trend
}
