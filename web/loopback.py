"""The names of one machine: who develops against it says localhost or 127.0.0.1, and means the same."""

from urllib.parse import urlsplit

NAMES = ("localhost", "127.0.0.1", "::1")


def called(base_url: str, host: str) -> str:
    """Return a service's address by the name under which it was called (`host`, of the Host header).

    Any name counts for a service on this machine, at the same port; anywhere else, and for any other name, the
    address is what it is: a Host header is what a stranger says.
    """
    ours, theirs = urlsplit(base_url), urlsplit(f"//{host}")
    try:
        same = {ours.hostname, theirs.hostname} <= set(NAMES) and ours.port == theirs.port
    except ValueError:
        same = False
    return f"{ours.scheme}://{theirs.netloc}" if same and theirs.username is None else base_url
