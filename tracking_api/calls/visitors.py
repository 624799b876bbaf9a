"""What a request says of its visitor: device, browser and system, known bots and prefetches, country and region."""

from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from typing import Any

import maxminddb
import re2
from crawleruseragents import CRAWLER_USER_AGENTS_DATA
from ua_parser import Domain
from ua_parser.loaders import load_lazy_builtins
from ua_parser.regex import Resolver

from configuration import Configuration
from storage.rules.click_details import NOWHERE, Agent, Location, clean, place_of

LONGEST = 512
_browsers, _systems, _ = load_lazy_builtins()
_resolver = Resolver((_browsers, _systems, []))  # its patterns for models of devices would double what it costs
_TV = ("smarttv", "smart-tv", "googletv", "appletv", "apple tv", "hbbtv", "bravia", "web0s", "webos.tv", "roku")
_DESKTOP = frozenset({"Windows", "Mac OS X", "Linux", "Ubuntu", "Fedora", "Debian", "Chrome OS", "FreeBSD", "OpenBSD"})
_VARIANTS = frozenset({"Mobile", "iOS"})  # Chrome Mobile iOS is Chrome
# A server-side integration that forwards clicks sends the name of its HTTP library, which is not a crawler.
BOTS = [bot["pattern"] for bot in CRAWLER_USER_AGENTS_DATA if "http-library" not in bot.get("tags", ())]
_options = re2.Options()
_options.max_mem = 32 << 20  # for what re2 remembers of user agents; half of it makes hostile ones twice as expensive
_bots = re2.Set.SearchSet(_options)
for pattern in BOTS:
    _bots.Add(pattern)
_bots.Compile()


@lru_cache(maxsize=4096)
def agent_of(user_agent: str | None) -> Agent:
    """Return what a user agent says; at most 512 characters of it are read, which takes about 30 us."""
    if not user_agent:
        return Agent()
    text = user_agent[:LONGEST]
    read = _resolver(text, Domain.USER_AGENT | Domain.OS)
    system = read.os.family if read.os else None
    browser = read.user_agent.family if read.user_agent else ""
    browser = " ".join(word for word in browser.split() if word not in _VARIANTS)
    text = text.lower()  # an iPad that asks for desktop sites is a desktop: it does not say more
    if any(word in text for word in _TV) or (system == "Android" and " tv" in text):
        device = "tv"
    elif "ipad" in text or "tablet" in text or (system == "Android" and "mobile" not in text):
        device = "tablet"
    elif "mobi" in text or "phone" in text:
        device = "mobile"
    elif system in _DESKTOP:
        device = "desktop"
    else:
        device = None
    return Agent(device, clean(browser), clean("macOS" if system == "Mac OS X" else system) if system else None)


def reason_to_filter(user_agent: str | None, method: str, headers: Mapping[bytes, bytes]) -> str | None:
    """Return `bot` or `prefetch` for a click that is stored but not counted, otherwise None."""
    purpose = headers.get(b"sec-purpose") or headers.get(b"purpose") or headers.get(b"x-moz")
    if method == "HEAD" or (purpose is not None and b"prefetch" in purpose.lower()):
        return "prefetch"
    return "bot" if user_agent and is_bot(user_agent) else None


@lru_cache(maxsize=4096)
def is_bot(user_agent: str) -> bool:
    """Say whether one of the package's patterns is found in a user agent; re2 reads each character once."""
    return bool(_bots.Match(user_agent.encode(errors="replace")))  # a lone surrogate has no UTF-8


class Places:
    """The places of clients, as the settings say: by headers of a trusted proxy, else by a MaxMind DB file."""

    def __init__(self, settings: Configuration) -> None:
        self._country = (settings.country_header or "").lower().encode()
        self._region = (settings.region_header or "").lower().encode()
        self._file = maxminddb.open_database(settings.geo_database) if settings.geo_database else None

    def of(self, headers: Mapping[bytes, bytes], address: str) -> Location:
        """Return the place of a client, by its headers or its IP address; the address is not stored."""
        place = NOWHERE
        if self._country in headers:
            place = place_of(headers[self._country].decode("latin-1"), headers.get(self._region, b"").decode("latin-1"))
        if place == NOWHERE and self._file is not None:
            record: Any = None
            with suppress(ValueError):  # not an address, or an IPv6 address in a file of IPv4 networks
                record = self._file.get(address)
            if isinstance(record, dict):
                regions = record.get("subdivisions") or [{}]
                place = place_of((record.get("country") or {}).get("iso_code"), regions[0].get("iso_code"))
        return place
