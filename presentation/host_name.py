"""The host name of a program's domain: letters, digits, dots and hyphens, an optional port, nothing else."""

import re

LONGEST = 253
LARGEST_PORT = 65_535
_LABEL = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_HOST = re.compile(rf"({_LABEL}(?:\.{_LABEL})*)(?::([0-9]{{1,5}}))?")


def is_host(text: str) -> bool:
    """Say whether a text is a host name in lower case (an international one as punycode), with or without a port."""
    found = _HOST.fullmatch(text)
    return found is not None and len(found[1]) <= LONGEST and 0 < int(found[2] or 1) <= LARGEST_PORT
