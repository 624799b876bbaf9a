"""What a click carries besides its texts: any text of a visitor's, which is cleaned and cut before it is stored."""

import json
import re
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import unquote_plus, urlsplit

LONGEST_HOST = 253
SEARCH_ADS = frozenset({"gclid", "gbraid", "wbraid", "msclkid", "yclid"})  # of ads in search results
SOCIAL_ADS = frozenset({"fbclid", "ttclid", "twclid", "li_fat_id", "epik", "rdt_cid", "sccid", "dclid"})
AD_MARKERS = SEARCH_ADS | SOCIAL_ADS
UTM = ("utm_source", "utm_medium", "utm_campaign", "utm_term", "utm_content")
CAMPAIGN = "campaign"  # the partner's own tag in their link: ?aff=anna&campaign=spring
_READ = (*UTM, CAMPAIGN)
LONGEST = 100
LONGEST_PATH = 200
LONGEST_USER_AGENT = 160  # of who calls with a key
_LONGEST_ESCAPED = 12  # characters of a percent-encoded character
_LANGUAGE = re.compile(r"([A-Za-z]{2,3})(?![A-Za-z0-9])")


class Agent(NamedTuple):
    """What a user agent says: `device` is desktop, mobile, tablet or tv. None: it does not say."""

    device: str | None = None
    browser: str | None = None
    os: str | None = None


class Location(NamedTuple):
    """Where a visitor is: an ISO 3166-1 code of a country, and an ISO 3166-2 code of its region."""

    country: str | None = None
    region: str | None = None


NOWHERE = Location()


def ad_markers(landing_url: str) -> str | None:
    """Return the names of the ad markers in a landing URL, separated by commas; None without one."""
    query = landing_url.partition("?")[2]
    if "&" not in query:  # nothing but the partner's code
        return None
    found = AD_MARKERS.intersection(pair.partition("=")[0] for pair in query.partition("#")[0].split("&"))
    return ",".join(sorted(found)) or None


@lru_cache(maxsize=4096)  # most visitors of a link come from the same pages
def referrer_host(referrer_url: str | None) -> str | None:
    """Return the host of a referrer; None if it is not a URL with a host."""
    try:
        host = urlsplit(referrer_url or "").hostname
    except ValueError:
        return None
    return host if host and len(host) <= LONGEST_HOST and host.isprintable() else None


def describe(landing_url: str, agent: Agent, place: Location, language: str | None) -> str:
    """Return the dimensions of a click as JSON text, without those that it lacks."""
    landing = _landing(landing_url)
    visitor = _visitor(agent, place, language and language[:LONGEST])
    return f"{{{landing},{visitor}}}" if landing and visitor else f"{{{landing or visitor}}}"


def clean(text: str, longest: int = LONGEST) -> str | None:
    """Return the printable characters of a text, cut to a length; None if nothing is left."""
    text = text[: longest * _LONGEST_ESCAPED]
    printable = text if text.isprintable() else "".join(filter(str.isprintable, text))
    return printable.strip()[:longest].rstrip() or None


@lru_cache(maxsize=4096)  # a key has few callers
def caller_name(user_agent: str | None, network_hash: str | None) -> str | None:
    """Return how a row names the program and the network that called with a key; None if nothing is known."""
    return " ".join(filter(None, (clean(user_agent or "", LONGEST_USER_AGENT), network_hash))) or None


def place_of(country: str | None, region: str | None) -> Location:
    """Return a place by its codes; a country that is not two letters, or is XX (unknown), is none."""
    country = (country or "").strip().upper()
    if not re.fullmatch("[A-Z]{2}", country, re.ASCII) or country == "XX":
        return NOWHERE
    code = (region or "").strip().upper().removeprefix(f"{country}-")
    return Location(country, f"{country}-{code}" if re.fullmatch("[A-Z0-9]{1,3}", code, re.ASCII) else None)


@lru_cache(maxsize=4096)  # many visitors follow the same link
def _landing(url: str) -> str:
    """Return the path of a landing URL, its utm_ fields and campaign (the first of each), as `_written` has them."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    sent: dict[str, str | None] = {}
    for pair in parts.query.split("&") if "utm_" in parts.query or "campaign=" in parts.query else ():
        name, _, value = pair.partition("=")
        if name in _READ:
            sent.setdefault(name, clean(unquote_plus(value[: LONGEST * _LONGEST_ESCAPED])))
    return _written(("landing_path", *_READ), (clean(parts.path or "/", LONGEST_PATH), *map(sent.get, _READ)))


@lru_cache(maxsize=4096)
def _visitor(agent: Agent, place: Location, language: str | None) -> str:
    """Return what is known of a visitor, as `_written` has it, with the primary tag of the language (BCP 47)."""
    tag = _LANGUAGE.match((language or "").strip())
    return _written((*Agent._fields, *Location._fields, "language"), (*agent, *place, tag and tag[1].lower()))


def _written(names: tuple[str, ...], values: tuple[str | None, ...]) -> str:
    """Return a JSON object of the values that there are, without its braces."""
    return ",".join(f'"{name}":{quoted(value)}' for name, value in zip(names, values, strict=True) if value)


quoted = json.JSONEncoder(ensure_ascii=False).encode
