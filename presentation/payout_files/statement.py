"""A partner's statement for a payout as a page without scripts; pdf.py draws the same page as PDF."""

from collections.abc import Sequence
from datetime import date
from pathlib import Path
from xml.etree.ElementTree import Element, fromstring

from babel.dates import format_date
from babel.numbers import format_currency
from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape

from storage.reports.statements import PartnerStatement
from storage.tracking import currencies

LONGEST = 200
LOCALE = "en_US"
_environment = Environment(
    loader=FileSystemLoader(Path(__file__).parent),
    autoescape=select_autoescape(["html"]),
    undefined=StrictUndefined,
    trim_blocks=True,
)


def html(statement: PartnerStatement) -> str:
    """Return a statement as a page of its own; what strangers wrote is cut and has no control characters."""
    return _environment.get_template("statement.html").render(statement._asdict())


def parsed(page: str) -> Element:
    """Return the elements of a statement's page, whose template is XML, too."""
    return fromstring(page)  # noqa: S314 - the page is our own, and has no entities


def pairs(page: Element) -> Sequence[tuple[str, str]]:
    """Return each fact and total of a statement's page, or of a list in it, with its value."""
    names, values = (["".join(each.itertext()) for each in page.iter(tag)] for tag in ("dt", "dd"))
    return list(zip(names, values, strict=True))


def _day(day: date) -> str:
    return format_date(day, "medium", locale=LOCALE)


def _money(cents: int, currency: str) -> str:
    return format_currency(currencies.major(cents, currency), currency, locale=LOCALE)


def _plain(text: str | None) -> str:
    """Return untrusted text without control, zero-width and direction characters, cut to 200 characters."""
    clean = "".join(each for each in text or "" if each.isprintable())
    return clean if len(clean) <= LONGEST else f"{clean[: LONGEST - 1]}…"


_environment.filters.update({"day": _day, "money": _money, "plain": _plain})
