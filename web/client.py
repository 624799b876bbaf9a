"""What a request's headers say of its client: its credential, and the name under which it calls this service."""

from collections.abc import Mapping
from urllib.parse import urlsplit

LOOPBACK = ("localhost", "127.0.0.1", "::1")  # a developer writes any of them and means the same service


def bearer(header: str | None) -> str | None:
    """Return the credential of an `Authorization: Bearer` header (RFC 6750, scheme case-insensitive), else None."""
    scheme, _, credential = (header or "").partition(" ")
    credential = credential.strip()
    return credential if scheme.lower() == "bearer" and credential else None


def agent_credential(headers: Mapping[str, str]) -> str | None:
    """Return what an agent presents: its `Authorization`, else its `X-Agent-Key`."""
    return bearer(headers.get("authorization")) or headers.get("x-agent-key", "").strip() or None


def called(base_url: str, host: str) -> str:
    """Return the service's URL, under the client's name for it if both are this machine: no other Host is trusted."""
    ours, theirs = urlsplit(base_url), urlsplit(f"//{host}")
    try:
        same = {ours.hostname, theirs.hostname} <= set(LOOPBACK) and ours.port == theirs.port
    except ValueError:
        same = False
    return f"{ours.scheme}://{theirs.netloc}" if same and theirs.username is None else base_url
