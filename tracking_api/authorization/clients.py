"""The clients that may request access: public ones that register themselves or publish a metadata document."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from mcp.shared.auth import InvalidRedirectUriError, InvalidScopeError, OAuthClientInformationFull
from pydantic import AnyUrl

from storage import Storage
from storage.access import assistant_clients
from storage.access.assistant_clients import AssistantClient
from storage.rules.scope import READING
from tracking_api.authorization import documents, redirects
from tracking_api.authorization.documents import PUBLIC, DocumentRejectedError, Documents

FRESH_FOR = timedelta(days=1)
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


class Clients:
    """The stored clients, and how more of them are added."""

    def __init__(self, storage: Storage, fetcher: Documents) -> None:
        self._storage = storage
        self._documents = fetcher

    async def find(self, client_id: str) -> Client | None:
        """Return a stored client, None if there is none."""
        row = await self._storage.read(assistant_clients.find, client_id)
        return row and Client(
            client_id=row.client_id,
            client_name=row.name,
            redirect_uris=[AnyUrl(uri) for uri in row.redirect_uris],
            token_endpoint_auth_method=PUBLIC,
        )

    async def refresh(self, client_id: str, *, at: datetime) -> None:
        """Fetch and save the document of a client id, once a day. If that fails, an earlier copy stays in use.

        Raises DocumentRejectedError.
        """
        if not documents.is_document_url(client_id):
            return
        row = await self._storage.read(assistant_clients.find, client_id)
        if row is not None and at < row.kept_at + FRESH_FOR:
            return
        try:
            document = await self._documents.fetch(client_id)
            await self.save(client_id, document.client_name, document.redirect_uris or (), at=at)
        except DocumentRejectedError:
            if row is None:
                raise

    async def save(self, client_id: str, name: str | None, uris: Iterable[AnyUrl], *, at: datetime) -> None:
        """Save a client. Raises DocumentRejectedError for a redirect URL that is not allowed."""
        urls = tuple(dict.fromkeys(map(str, uris)))
        if not 0 < len(urls) <= MOST_REDIRECTS or not all(map(redirects.is_acceptable, urls)):
            raise DocumentRejectedError(
                f"redirect_uris are up to {MOST_REDIRECTS} URLs without a fragment: https, http to the user's own "
                "machine, or the scheme of a known application"
            )
        plain = "".join(letter for letter in name or "" if letter.isprintable())[:LONGEST_NAME].strip()
        shown_name = plain or redirects.host(urls[0])
        await self._storage.write(assistant_clients.save, AssistantClient(client_id, shown_name, urls, at))
