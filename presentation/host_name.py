"""The host name of a program's domain: letters, digits, dots and hyphens, an optional port, nothing else; its URL."""

import re

LONGEST = 253
LARGEST_PORT = 65_535
LOCAL = ("localhost", "127.0.0.1", "0.0.0.0")  # noqa: S104 - compared, not bound
_LABEL = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_HOST = re.compile(rf"({_LABEL}(?:\.{_LABEL})*)(?::([0-9]{{1,5}}))?")


def url_of(domain: str) -> str:
    """Return the URL of a program's domain: `https`, or `http` on the developer's own machine."""
    host = domain.partition(":")[0]
    is_local = host in LOCAL or host.endswith(".localhost")
    return f"{'http' if is_local else 'https'}://{domain}"


def is_host(text: str) -> bool:
    """Say whether a text is a host name in lower case (an international one as punycode), with or without a port."""
    found = _HOST.fullmatch(text)
    return found is not None and len(found[1]) <= LONGEST and 0 < int(found[2] or 1) <= LARGEST_PORT
