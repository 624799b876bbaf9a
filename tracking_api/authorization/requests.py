"""Authorization requests in a member's browser: sealed into the consent page's URL, never stored."""

import json
from datetime import datetime, timedelta
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from storage.access.assistants import AuthorizationRequest
from storage.engine.sealing import Sealer, UnreadableSecretError
from storage.rules.errors import NotFound
from storage.rules.scope import Scope

AGAIN = "Go back to your assistant and connect it again."
LIFETIME = timedelta(minutes=20)  # enough time to look up a password


def response_url(request: AuthorizationRequest, issuer: str, **parameters: str) -> str:
    """Return the redirect URL of the response, with the client's state and the issuer (RFC 9207)."""
    state = {"state": request.state} if request.state else {}
    return with_query(request.redirect_uri, **parameters, **state, iss=issuer)


def with_query(url: str, **parameters: str) -> str:
    """Return a URL with parameters after those that it has."""
    parts = urlsplit(url)
    query = [*parse_qsl(parts.query, keep_blank_values=True), *parameters.items()]
    return urlunsplit(parts._replace(query=urlencode(query)))


def seal(request: AuthorizationRequest, sealer: Sealer, *, at: datetime) -> str:
    """Return a request as part of a URL. Its holder cannot read or change it; it expires after 20 minutes."""
    return sealer.seal(json.dumps({**request._asdict(), "until": (at + LIFETIME).timestamp()}))


def unseal(sealed: str, sealer: Sealer, *, at: datetime) -> AuthorizationRequest:
    """Return the request. Raises NotFound if it was not sealed here, or has expired."""
    try:
        values = json.loads(sealer.open(sealed))
    except UnreadableSecretError:
        raise NotFound("This request was not created by this service.", hint=AGAIN) from None
    if values.pop("until") <= at.timestamp():
        raise NotFound("This request has expired.", hint=AGAIN)
    return AuthorizationRequest(**values | {"scopes": tuple(Scope(scope) for scope in values["scopes"])})
