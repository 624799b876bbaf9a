"""The names of this machine: a developer writes localhost or 127.0.0.1 and means the same service."""

from urllib.parse import urlsplit

NAMES = ("localhost", "127.0.0.1", "::1")


def called(base_url: str, host: str) -> str:
    """Return a service's URL under the name that the client used (`host`, of the Host header).

    A service on this machine accepts each of its names, at the same port. Otherwise the URL does not change, because
    a Host header is not trusted.
    """
    ours, theirs = urlsplit(base_url), urlsplit(f"//{host}")
    try:
        same = {ours.hostname, theirs.hostname} <= set(NAMES) and ours.port == theirs.port
    except ValueError:
        same = False
    return f"{ours.scheme}://{theirs.netloc}" if same and theirs.username is None else base_url
