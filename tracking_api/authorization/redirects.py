"""Where an authorization may be sent back to: exactly what a client registered, a loopback port aside (RFC 8252)."""

import re
from urllib.parse import SplitResult, urlsplit

LOOPBACK = ("127.0.0.1", "::1", "localhost")
LONGEST = 1024
_PLACE = re.compile(r"[A-Za-z0-9.:\[\]_-]*")  # no user, and nothing that ends a word in a header
# What a browser would run, read or open by itself: never an application that waits for an answer.
NO_APPLICATION = (
    "about",
    "blob",
    "data",
    "file",
    "filesystem",
    "ftp",
    "javascript",
    "vbscript",
    "view-source",
    "ws",
    "wss",
)


def is_acceptable(uri: str) -> bool:
    """Say whether a client may register this: https, http to this very machine, or an application's own scheme."""
    parts = _parts(uri)
    if parts is None or "#" in uri or len(uri) > LONGEST or not _PLACE.fullmatch(parts.netloc):
        return False
    if parts.scheme == "https":
        return bool(parts.hostname)
    if parts.scheme == "http":
        return parts.hostname in LOOPBACK
    return parts.scheme not in NO_APPLICATION and bool(parts.netloc or "." in parts.scheme)


def matches(registered: str, asked: str) -> bool:
    """Say whether what is asked is what was registered: the same; on a loopback address any port (RFC 8252, 7.3)."""
    return registered == asked or (is_loopback(registered) and _without_port(registered) == _without_port(asked))


def is_loopback(uri: str) -> bool:
    """Say whether an answer to this address stays on the machine of whoever asked."""
    parts = _parts(uri)
    return parts is not None and parts.scheme == "http" and parts.hostname in LOOPBACK


def origin(uri: str) -> str:
    """Return what of an acceptable address a browser's policy names: `https://host`, or `scheme:` of an application."""
    parts = urlsplit(uri)
    return f"{parts.scheme}://{parts.netloc}" if parts.scheme in {"http", "https"} else f"{parts.scheme}:"


def host(uri: str) -> str:
    """Return where an acceptable address leads, for people: its host, or the scheme of an application."""
    parts = urlsplit(uri)
    return parts.hostname or "" if parts.scheme in {"http", "https"} else f"{parts.scheme}:"


def _parts(uri: str) -> SplitResult | None:
    """Return an address's parts; None for what is none."""
    if not uri.isascii() or not uri.isprintable() or " " in uri:
        return None
    try:
        parts = urlsplit(uri)
        _ = parts.port
    except ValueError:
        return None
    return parts if parts.scheme else None


def _without_port(uri: str) -> tuple[str | None, ...]:
    parts = _parts(uri)
    return () if parts is None else (parts.scheme, parts.hostname, parts.path, parts.query, parts.username)
