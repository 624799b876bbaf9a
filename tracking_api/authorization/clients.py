"""The clients that may request access: public ones that register themselves or publish a metadata document."""

from collections.abc import Iterable
from datetime import datetime

from mcp.shared.auth import InvalidRedirectUriError, InvalidScopeError, OAuthClientInformationFull
from pydantic import AnyUrl

from storage.access.assistants import AssistantClient
from storage.rules.scope import READING
from tracking_api.authorization import redirects
from tracking_api.authorization.documents import PUBLIC, DocumentRejectedError

LONGEST_NAME = 120
MOST_REDIRECTS = 10


class Client(OAuthClientInformationFull):
    """A client as the SDK's handlers use it: they check its redirect URLs and the scopes that it may get."""

    def validate_scope(self, requested_scope: str | None) -> list[str] | None:
        """Return the requested read scopes, or all of them if the client requests none.

        Raises InvalidScopeError when none of them can be granted: no assistant can write.
        """
        granted = [scope for scope in READING if requested_scope is None or scope in requested_scope.split()]
        if not granted:
            raise InvalidScopeError(f"An assistant can be granted these scopes: {' '.join(READING)}")
        return list(granted)

    def validate_redirect_uri(self, redirect_uri: AnyUrl | None) -> AnyUrl:
        """Return the URL if it is registered; a loopback URL may have any port. Raises InvalidRedirectUriError."""
        registered = [str(AnyUrl(str(each))) for each in self.redirect_uris or ()]
        if redirect_uri is not None and any(redirects.matches(each, str(redirect_uri)) for each in registered):
            return redirect_uri
        raise InvalidRedirectUriError("This client did not register this redirect_uri.")


def stored(row: AssistantClient) -> Client:
    """Return a stored client."""
    return Client(
        client_id=row.client_id,
        client_name=row.name,
        redirect_uris=[AnyUrl(uri) for uri in row.redirect_uris],
        token_endpoint_auth_method=PUBLIC,
    )


def to_store(client_id: str, name: str | None, uris: Iterable[AnyUrl], *, at: datetime) -> AssistantClient:
    """Return a client as it is stored. Raises DocumentRejectedError for a redirect URL that is not allowed."""
    urls = tuple(dict.fromkeys(map(str, uris)))
    if not 0 < len(urls) <= MOST_REDIRECTS or not all(map(redirects.is_acceptable, urls)):
        raise DocumentRejectedError(
            f"redirect_uris are up to {MOST_REDIRECTS} URLs without a fragment: https, http to the user's own "
            "machine, or the scheme of a known application"
        )
    plain = "".join(letter for letter in name or "" if letter.isprintable())[:LONGEST_NAME].strip()
    return AssistantClient(client_id, plain or redirects.host(urls[0]), urls, at)
