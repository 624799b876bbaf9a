"""What is stored of e-mail and IP addresses: hashes for matching and a mask, never the address itself."""

import hashlib
import hmac
import re
import unicodedata
from collections.abc import Callable
from datetime import datetime
from functools import lru_cache
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import NamedTuple

LONGEST = 255
_ADDRESS = re.compile(r"[^\s@\x00-\x1f\x7f-\x9f]+@[^\s@\x00-\x1f\x7f-\x9f]+")
_WITHOUT_DOTS = {"gmail.com": "gmail.com", "googlemail.com": "gmail.com"}
_PRIVATE: tuple[IPv4Network | IPv6Network, ...] = (
    *(IPv4Network(each) for each in ("0.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")),
    *(IPv6Network(each) for each in ("::/127", "fc00::/7")),
)


class Contact(NamedTuple):
    """The stored form of an e-mail address; all addresses of one mailbox have one `mailbox_hash`."""

    email_hash: str
    email_mask: str
    mailbox_hash: str


def is_email(sent: object) -> bool:
    """Return whether a text looks like an e-mail address, in characters of any width and with spaces around it."""
    return isinstance(sent, str) and len(sent) <= LONGEST and _ADDRESS.fullmatch(_normalised(sent)) is not None


def protect(email: str) -> Contact:
    """Return the SHA-256 of the normalised address, its mask, and the mailbox's: without what providers ignore."""
    normalised = _normalised(email)
    name, _, domain = normalised.rpartition("@")
    mailbox, host = name.partition("+")[0] or name, domain.rstrip(".")
    if host in _WITHOUT_DOTS:
        mailbox, host = mailbox.replace(".", ""), _WITHOUT_DOTS[host]
    return Contact(_digest(normalised), f"{name[:1]}***@{domain}", _digest(f"{mailbox}@{host}"))


def _normalised(email: str) -> str:
    plain = unicodedata.normalize("NFKC", email)
    return "".join(each for each in plain if unicodedata.category(each) != "Cf").strip().lower()


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


class AddressHashes:
    """Hashes of networks with a salt of the day, derived from the secret key: none is recognized across days."""

    def __init__(self, secret: Callable[[], str]) -> None:
        self._salt = lru_cache(3)(lambda text: hmac.digest(secret().encode(), text.encode(), "sha256"))
        self._salt_of_day = lru_cache(3)(lambda day: self._salt(f"address hashes of {day}"))

    def of(self, address: str, at: datetime) -> str | None:
        """Return the hash of an IP address's network on the day of `at`; None for one that is not public."""
        return _hashed(address, self._salt_of_day(at.date()))

    def of_caller(self, address: str) -> str | None:
        """Return the hash of a server's network, by which it is recognized on every day; None as in `of`."""
        return _hashed(address, self._salt("networks of callers"))


@lru_cache(maxsize=4096)
def _hashed(address: str, salt: bytes) -> str | None:
    network = network_of(address)
    return None if network is None else hashlib.blake2b(network, key=salt, digest_size=12).hexdigest()


def network_of(address: str) -> bytes | None:
    """Return the /24 network of an IPv4 address or the /48 network of an IPv6 address; None unless it is public."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return None
    parsed = (parsed.ipv4_mapped or parsed) if isinstance(parsed, IPv6Address) else parsed
    # Behind a proxy that is not trusted every visitor has a private address.
    if parsed.is_loopback or parsed.is_link_local or any(parsed in network for network in _PRIVATE):
        return None
    return parsed.packed[:6] if isinstance(parsed, IPv6Address) else parsed.packed[:3]
