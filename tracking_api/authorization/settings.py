"""What the environment decides about the authorization server."""

from typing import NamedTuple
from urllib.parse import urlsplit

from web import loopback


class AuthorizationSettings(NamedTuple):
    """`base_url` is where the world reaches the service: the issuer; `redis_url` shares rate limits between processes.

    Rates are what one address may send, in the notation of the `limits` package; None: no limit. `private_hosts` are
    the hosts of client documents that may have addresses which are not public. A body must arrive in `body_seconds`.
    """

    base_url: str = "http://127.0.0.1:8000"
    registration_rate: str | None = "60/hour"
    authorization_rate: str | None = "60/minute"
    token_rate: str | None = "120/minute"  # noqa: S105 - a rate
    redis_url: str | None = None
    private_hosts: tuple[str, ...] = ()
    body_seconds: float = 30.0

    @property
    def is_possible(self) -> bool:
        """Whether assistants can sign in here: over https, or on this very machine (RFC 8414, 2)."""
        address = urlsplit(self.base_url)
        return address.scheme == "https" or address.hostname in loopback.NAMES

    @property
    def resource(self) -> str:
        """What tokens are for (RFC 8707)."""
        return f"{self.base_url}/mcp"
