"""How pages write values: money, numbers, days and timestamps, and untrusted text, sanitized."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from copy import copy
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import lru_cache
from typing import Any

from babel import Locale
from babel.dates import format_date, format_skeleton, format_timedelta
from babel.numbers import format_currency, format_decimal
from markupsafe import Markup, escape

from storage.access.preferences import TimeFormat
from storage.rules.reports import metrics
from storage.rules.reports.metrics import Direction, Trend
from storage.tracking import currencies
from tracking_api.calls.visitors import agent_of
from tracking_api.dashboard.pages import locales, viewing

LONGEST = 160
_GROUPED = re.compile(r"-?\d{1,3}(,\d{3})+(\.\d*)?", re.ASCII)
LARGEST_TREND = 999
MOST_KEPT = 8192
_TICKED = re.compile(r"`([^`]*)`")


def major(cents: float, currency: str) -> Decimal:
    """Return minor units as an exact number of major ones: 1234 of USD is 12.34, of JPY 1234."""
    return Decimal(str(cents)).scaleb(-currencies.digits(currency))


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


def money(cents: int, currency: str) -> str:
    """Write an amount by the viewer's locale: $1,234.50, or 1.234,50 $."""
    return _money(cents, currency, viewing.clock().locale)


@lru_cache(MOST_KEPT)  # babel takes a quarter of a millisecond for an amount, and a chart's table has hundreds
def _money(cents: int, currency: str, locale: str) -> str:
    return format_currency(major(cents, currency), currency, locale=locale)


def small_money(cents: float, currency: str) -> str:
    """Write an amount of which fractions of cents matter: $0.0425."""
    return _small_money(cents, currency, viewing.clock().locale)


@lru_cache(MOST_KEPT)
def _small_money(cents: float, currency: str, locale: str) -> str:
    written, digits = Locale.parse(locale), currencies.digits(currency)
    pattern = copy(written.currency_formats["standard"])
    pattern.frac_prec = (digits, digits + 2)
    return str(pattern.apply(major(cents, currency), written, currency=currency, currency_digits=False))


def number(value: int) -> str:
    """Write a count by the viewer's locale: 1,234, or 1.234."""
    return _number(value, viewing.clock().locale)


@lru_cache(MOST_KEPT)
def _number(value: float, locale: str) -> str:
    return format_decimal(value, locale=locale)


def day(value: date) -> str:
    """Write a day by the viewer's locale: May 5, 2026, or 05.05.2026."""
    return _day(value, viewing.clock().locale)


@lru_cache(MOST_KEPT)
def _day(value: date, locale: str) -> str:
    return format_date(value, "medium", locale=locale)


def timestamp(value: datetime) -> Markup:
    """Write a timestamp in the viewer's zone: May 5, 2026, 14:03, or 2:03 PM."""
    clock = viewing.clock()
    local = value.astimezone(clock.zone)
    time = f"{local:%H:%M}" if clock.hours == TimeFormat.HOURS_24 else f"{local.hour % 12 or 12}:{local:%M %p}"
    written = Markup('<time datetime="{}">{}, {}</time>')
    return written.format(value.isoformat(timespec="seconds").replace("+00:00", "Z"), day(local), time)


def words(value: str) -> str:
    """Write a word of the specification as a phrase: server_required is Server required."""
    return value.replace("_", " ").capitalize()


def country(code: str) -> str:
    """Write a country's code as its English name; a code that has none stays."""
    return locales.DEFAULT.territories.get(code, plain(code))


def browser(client: str) -> str:
    """Write a user agent as its browser and system; what names neither stays."""
    agent = agent_of(client)
    return plain(f"{agent.browser} on {agent.os}" if agent.browser and agent.os else client)


def plain(value: object) -> str:
    """Return untrusted text without control, zero-width and direction characters, cut to 160 characters."""
    text = "".join(character for character in str(value) if not unicodedata.category(character).startswith("C"))
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def ticked(value: str) -> Markup:
    """Write `words in ticks` of our own guides as code; everything else is escaped."""
    return Markup(_TICKED.sub(r"<code>\1</code>", str(escape(value))))  # noqa: S704 - escaped in the line itself


def compared(current: int, previous: int) -> Trend:
    """Return the trend from a previous total to a current one."""
    return metrics.trend(previous, current)


def percent(change: Trend) -> str:
    """Write the size of a change: 12.5%; what began with nothing is new, and over 999 % the size says no more."""
    if change.direction == Direction.STABLE:
        return "no change"
    if change.percent is None:
        return "new"
    return "over 999%" if change.percent > LARGEST_TREND else percentage(change.percent)


def elapsed(time: timedelta) -> str:
    """Write how much later something was: 3 days later; nothing for less than a second."""
    return f"{format_timedelta(time, locale='en')} later" if time >= timedelta(seconds=1) else ""


def percentage(value: float) -> str:
    """Write a percentage: 12.5%."""
    return f"{_number(value, viewing.clock().locale)}%"


def short_day(value: date) -> str:
    """Write a day without its year: May 5."""
    return _short_day(value, viewing.clock().locale)


@lru_cache(MOST_KEPT)
def _short_day(value: date, locale: str) -> str:
    return format_skeleton("MMMd", value, locale=locale)


def month(value: date) -> str:
    """Write a month without its year: May."""
    return format_skeleton("MMM", value, locale=viewing.clock().locale)


def pairs(each: Iterable[str]) -> list[tuple[str, str]]:
    """Return words as options: what is sent, and how it is written."""
    return [(str(value), words(value)) for value in each]


FILTERS: Mapping[str, Callable[..., Any]] = {
    "major": major,
    "money": money,
    "number": number,
    "day": day,
    "timestamp": timestamp,
    "words": words,
    "country": country,
    "browser": browser,
    "plain": plain,
    "ticked": ticked,
    "compared": compared,
    "percent": percent,
    "pairs": pairs,
}
