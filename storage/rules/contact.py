"""What is stored of an e-mail address: a hash for matching and a mask for display, never the address itself."""

import hashlib
import re
from typing import NamedTuple


class Contact(NamedTuple):
    """The stored form of an e-mail address."""

    hash: str
    mask: str


LONGEST = 255
_ADDRESS = re.compile(r"[^\s@\x00-\x1f\x7f-\x9f]+@[^\s@\x00-\x1f\x7f-\x9f]+")


def is_email(sent: object) -> bool:
    """Return whether a text looks like an e-mail address."""
    return isinstance(sent, str) and len(sent) <= LONGEST and _ADDRESS.fullmatch(sent) is not None


def protect(email: str) -> Contact:
    """Return the SHA-256 of the normalised address and its mask (`j***@example.com`)."""
    normalised = email.strip().lower()
    name, _, domain = normalised.rpartition("@")
    return Contact(hashlib.sha256(normalised.encode()).hexdigest(), f"{name[:1]}***@{domain}")
