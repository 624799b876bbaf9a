"""Who may ask a member: public clients, registered by themselves or described by a document of their own."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from mcp.shared.auth import InvalidRedirectUriError, InvalidScopeError, OAuthClientInformationFull
from pydantic import AnyUrl

from storage import Storage
from storage.access import assistant_clients
from storage.access.assistant_clients import AssistantClient
from storage.rules.scope import READING
from tracking_api.authorization import documents, redirects
from tracking_api.authorization.documents import PUBLIC, DocumentRefusedError, Documents

FRESH_FOR = timedelta(days=1)
LONGEST_NAME = 120
MOST_REDIRECTS = 10


class Client(OAuthClientInformationFull):
    """A client as the protocol's handlers ask it: which address it may be answered at, which scopes it may be given."""

    def validate_scope(self, requested_scope: str | None) -> list[str] | None:
        """Return the read scopes among those that are asked, all of them where none is asked.

        Raises InvalidScopeError when none of them can be granted: no assistant can write.
        """
        granted = [scope for scope in READING if requested_scope is None or scope in requested_scope.split()]
        if not granted:
            raise InvalidScopeError(f"An assistant can be granted these scopes: {' '.join(READING)}")
        return list(granted)

    def validate_redirect_uri(self, redirect_uri: AnyUrl | None) -> AnyUrl:
        """Return the address if it is registered, a loopback one with any port. Raises InvalidRedirectUriError."""
        registered = [str(AnyUrl(str(each))) for each in self.redirect_uris or ()]
        if redirect_uri is not None and any(redirects.matches(each, str(redirect_uri)) for each in registered):
            return redirect_uri
        raise InvalidRedirectUriError("redirect_uri is none that this client registered.")


class Clients:
    """The clients that are known, and how more of them become known."""

    def __init__(self, storage: Storage, fetcher: Documents) -> None:
        self._storage = storage
        self._documents = fetcher

    async def find(self, client_id: str) -> Client | None:
        """Return a client that is known."""
        kept = await self._storage.read(assistant_clients.find, client_id)
        return kept and Client(
            client_id=kept.client_id,
            client_name=kept.name,
            redirect_uris=[AnyUrl(uri) for uri in kept.redirect_uris],
            token_endpoint_auth_method=PUBLIC,
        )

    async def learn(self, client_id: str, *, at: datetime) -> None:
        """Read the document that an id names, unless it was read within a day; one read before outlives a failure.

        Raises DocumentRefusedError.
        """
        if not documents.is_named(client_id):
            return
        kept = await self._storage.read(assistant_clients.find, client_id)
        if kept is not None and at < kept.kept_at + FRESH_FOR:
            return
        try:
            document = await self._documents.fetch(client_id)
            await self.keep(client_id, document.client_name, document.redirect_uris or (), at=at)
        except DocumentRefusedError:
            if kept is None:
                raise

    async def keep(self, client_id: str, name: str | None, uris: Iterable[AnyUrl], *, at: datetime) -> None:
        """Keep a client. Raises DocumentRefusedError for an address that no client may be answered at."""
        addresses = tuple(dict.fromkeys(map(str, uris)))
        if not 0 < len(addresses) <= MOST_REDIRECTS or not all(map(redirects.is_acceptable, addresses)):
            raise DocumentRefusedError(
                f"redirect_uris are up to {MOST_REDIRECTS} addresses without a fragment: https, http to the user's own "
                "machine, or an application's own scheme"
            )
        plain = "".join(letter for letter in name or "" if letter.isprintable())[:LONGEST_NAME].strip()
        called = plain or redirects.host(addresses[0])
        await self._storage.write(assistant_clients.save, AssistantClient(client_id, called, addresses, at))
