"""What is kept of an e-mail address: a hash to match on and a mask to show; never the address."""

import hashlib
from typing import NamedTuple


class Contact(NamedTuple):
    """The stored form of an e-mail address."""

    hash: str
    mask: str


def protect(email: str) -> Contact:
    """Return the SHA-256 of the normalised address and its mask (`j***@example.com`)."""
    normalised = email.strip().lower()
    name, _, domain = normalised.rpartition("@")
    return Contact(hashlib.sha256(normalised.encode()).hexdigest(), f"{name[:1]}***@{domain}")
