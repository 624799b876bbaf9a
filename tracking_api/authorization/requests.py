"""What an assistant asks a member for: checked, and sealed to go through their browser; it is stored nowhere."""

import json
from datetime import datetime, timedelta
from typing import NamedTuple
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from storage.engine.sealing import Sealer, UnreadableSecretError
from storage.rules.errors import NotFound
from storage.rules.scope import Scope

AGAIN = "Go back to your assistant and connect it again."
LIFETIME = timedelta(minutes=20)  # long enough to find one's password


class AuthorizationRequest(NamedTuple):
    """A valid request (RFC 6749, 4.1.1; RFC 7636; RFC 8707). `name` is what the client calls itself: untrusted text.

    `host` says who vouches for the name: where the client's own document is, or else where the answer goes.
    """

    client_id: str
    name: str
    host: str
    redirect_uri: str
    scopes: tuple[Scope, ...]
    resource: str
    code_challenge: str
    state: str | None = None

    @property
    def is_documented(self) -> bool:
        """Whether the client's name stands in a document at its own https address; else it only says so."""
        return self.client_id.startswith("https://")

    def answer(self, issuer: str, **parameters: str) -> str:
        """Return where the browser goes with the answer: with the state, and who answers (RFC 9207)."""
        return answered(self.redirect_uri, **parameters, **({"state": self.state} if self.state else {}), iss=issuer)


def answered(address: str, **parameters: str) -> str:
    """Return an address with parameters put after those that it has."""
    parts = urlsplit(address)
    query = [*parse_qsl(parts.query, keep_blank_values=True), *parameters.items()]
    return urlunsplit(parts._replace(query=urlencode(query)))


def seal(request: AuthorizationRequest, sealer: Sealer, *, at: datetime) -> str:
    """Return a request as part of an address: nobody can read or change it, and it is good for 20 minutes."""
    return sealer.seal(json.dumps({**request._asdict(), "until": (at + LIFETIME).timestamp()}))


def unseal(sealed: str, sealer: Sealer, *, at: datetime) -> AuthorizationRequest:
    """Return the request. Raises NotFound for what was not sealed here, or too long ago."""
    try:
        values = json.loads(sealer.open(sealed))
    except UnreadableSecretError:
        raise NotFound("This request is not one of ours.", hint=AGAIN) from None
    if values.pop("until") <= at.timestamp():
        raise NotFound("This request was left waiting for too long.", hint=AGAIN)
    return AuthorizationRequest(**values | {"scopes": tuple(Scope(scope) for scope in values["scopes"])})
