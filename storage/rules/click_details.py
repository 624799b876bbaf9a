"""What a click carries besides its texts: the referrer's host, the ad markers, a hash of the network, dimensions."""

import hashlib
import hmac
from collections.abc import Callable
from datetime import date, datetime
from functools import lru_cache
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import NamedTuple
from urllib.parse import urlsplit

LONGEST_HOST = 253
SEARCH_ADS = frozenset({"gclid", "gbraid", "wbraid", "msclkid", "yclid"})  # of ads in search results
SOCIAL_ADS = frozenset({"fbclid", "ttclid", "twclid", "li_fat_id", "epik", "rdt_cid", "sccid", "dclid"})
AD_MARKERS = SEARCH_ADS | SOCIAL_ADS
_PRIVATE: tuple[IPv4Network | IPv6Network, ...] = (
    *(IPv4Network(each) for each in ("0.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")),
    *(IPv6Network(each) for each in ("::/127", "fc00::/7")),
)


class ClickDetails(NamedTuple):
    """The details of a click; `ad_markers` are the names alone, separated by commas. None: the click has none.

    `dimensions` is JSON text (storage/rules/dimensions.py); of a click from before them it is None until it is filled.
    """

    referrer_host: str | None = None
    ad_markers: str | None = None
    address_hash: str | None = None
    dimensions: str | None = None


NO_DETAILS = ClickDetails()


class AddressHashes:
    """Hashes of networks, with a salt for each day: a network is recognized within a day and never across days.

    The salt is derived from the service's secret key, so nothing is stored and every worker has the same.
    """

    def __init__(self, secret: Callable[[], str]) -> None:
        self._secret = secret
        self._day: date | None = None
        self._salt = b""
        self._lasting = b""

    def of(self, address: str, at: datetime) -> str | None:
        """Return the hash of an IP address's network on the day of `at`; None for one that is not public."""
        network = network_of(address)
        if network is None:
            return None
        if at.date() != self._day:
            day = at.date()
            self._salt = daily_salt(self._secret(), day)
            self._day = day
        return _hashed(network, self._salt)

    def of_caller(self, address: str) -> str | None:
        """Return the hash of a server's network, by which it is recognized on every day; None as in `of`."""
        network = network_of(address)
        if network is None:
            return None
        self._lasting = self._lasting or hmac.digest(self._secret().encode(), b"networks of callers", "sha256")
        return _hashed(network, self._lasting)


@lru_cache(maxsize=4096)
def _hashed(network: bytes, salt: bytes) -> str:
    return hashlib.blake2b(network, key=salt, digest_size=12).hexdigest()


def daily_salt(secret: str, day: date) -> bytes:
    """Return the salt of a day."""
    return hmac.digest(secret.encode(), f"address hashes of {day.isoformat()}".encode(), "sha256")


@lru_cache(maxsize=4096)
def network_of(address: str) -> bytes | None:
    """Return the /24 network of an IPv4 address or the /48 network of an IPv6 address.

    None for text that is no address, and for a private one: behind a proxy that is not trusted every visitor has it.
    """
    try:
        parsed = ip_address(address)
    except ValueError:
        return None
    parsed = (parsed.ipv4_mapped or parsed) if isinstance(parsed, IPv6Address) else parsed
    if parsed.is_loopback or parsed.is_link_local or any(parsed in network for network in _PRIVATE):
        return None
    return parsed.packed[:6] if isinstance(parsed, IPv6Address) else parsed.packed[:3]


def ad_markers(landing_url: str) -> str | None:
    """Return the names of the ad markers in a landing URL, separated by commas; None without one."""
    query = landing_url.partition("?")[2]
    if "&" not in query:  # nothing but the partner's code
        return None
    found = AD_MARKERS.intersection(pair.partition("=")[0] for pair in query.partition("#")[0].split("&"))
    return ",".join(sorted(found)) or None


@lru_cache(maxsize=4096)  # most visitors of a link come from the same pages
def referrer_host(referrer_url: str) -> str | None:
    """Return the host of a referrer; None if it is not a URL with a host."""
    try:
        host = urlsplit(referrer_url).hostname
    except ValueError:
        return None
    return host if host and len(host) <= LONGEST_HOST and host.isprintable() else None


def read(
    landing_url: str, referrer_url: str | None, address_hash: str | None, dimensions: str | None = None
) -> ClickDetails:
    """Return the details of a click."""
    host = referrer_host(referrer_url) if referrer_url else None
    return ClickDetails(host, ad_markers(landing_url), address_hash, dimensions)
