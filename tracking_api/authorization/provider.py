"""The provider behind the SDK's OAuth handlers: codes and tokens from storage, and the public clients that get them."""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from mcp.server.auth import provider as sdk
from mcp.shared.auth import InvalidRedirectUriError, InvalidScopeError, OAuthClientInformationFull, OAuthToken
from pydantic import AnyUrl

from configuration import Configuration
from storage import Storage
from storage.access import assistants
from storage.rules.scope import READING, Scope
from tracking_api.authorization import documents, redirects
from tracking_api.authorization.documents import PUBLIC, Document, DocumentRejectedError, Documents
from web.client import called

CONSENT = "/connect/"  # the dashboard's page
LONGEST_STATE = 2048
LONGEST_NAME = 120
MOST_REDIRECTS = 10
_CHALLENGE = re.compile(r"[A-Za-z0-9_-]{43}")  # RFC 7636, 4.2: SHA-256 in base64url


class Client(OAuthClientInformationFull):
    """A client as the SDK's handlers use it: they check its redirect URLs and the scopes that it may get."""

    def validate_scope(self, requested_scope: str | None) -> list[str] | None:
        """Return the requested read scopes, or all. Raises InvalidScopeError for none: no assistant can write."""
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


@dataclass
class Provider:
    """What the SDK's handlers for public clients call, by the service's clock: expired rows are not returned."""

    storage: Storage
    settings: Configuration
    documents: Documents
    clock: Callable[[], datetime]

    async def get_client(self, client_id: str) -> Client | None:
        row = await self.storage.read(assistants.find_client, client_id)
        return row and Client(
            client_id=row.client_id,
            client_name=row.name,
            redirect_uris=[AnyUrl(uri) for uri in row.redirect_uris.split()],
            token_endpoint_auth_method=PUBLIC,
        )

    async def fetch_client(self, client_id: str) -> None:
        """Save the document of a client id once a day; a copy outlives failures. Raises DocumentRejectedError."""
        if not documents.is_document_url(client_id):
            return
        row = await self.storage.read(assistants.find_client, client_id)
        at = self.clock()
        if row is not None and at < row.kept_at + timedelta(days=1):
            return
        try:
            await self._save(client_id, await self.documents.fetch(client_id))
        except DocumentRejectedError:
            if row is None:
                raise

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        """Save a client that registers itself, always as public (RFC 7591, 3.2.1). Raises RegistrationError."""
        client_info.client_secret = client_info.client_secret_expires_at = None
        client_info.token_endpoint_auth_method = PUBLIC
        try:
            await self._save(client_info.client_id, client_info)
        except DocumentRejectedError as rejection:
            raise sdk.RegistrationError("invalid_redirect_uri", str(rejection)) from None

    async def _save(self, client_id: str, metadata: Document | OAuthClientInformationFull) -> None:
        """Save a client. Raises DocumentRejectedError for a redirect URL that is not allowed."""
        urls = list(dict.fromkeys(map(str, metadata.redirect_uris or ())))
        if not 0 < len(urls) <= MOST_REDIRECTS or not all(map(redirects.is_acceptable, urls)):
            raise DocumentRejectedError(
                f"redirect_uris are up to {MOST_REDIRECTS} URLs without a fragment: https, http to the user's own "
                "machine, or the scheme of a known application"
            )
        plain = "".join(letter for letter in metadata.client_name or "" if letter.isprintable())[:LONGEST_NAME].strip()
        name = plain or redirects.host(urls[0])
        await self.storage.write(assistants.save_client, client_id, name, urls, self.clock())

    async def authorize(self, client: Client, params: sdk.AuthorizationParams) -> str:
        """Return the URL of the consent page. Raises AuthorizeError."""
        redirect_uri = str(params.redirect_uri)
        resource = self.settings.mcp_url
        if not is_resource(params.resource, resource):
            raise sdk.AuthorizeError("invalid_target", f"resource is not {resource}")
        if not _CHALLENGE.fullmatch(params.code_challenge):
            raise sdk.AuthorizeError("invalid_request", "code_challenge is not a SHA-256 in base64url")
        if len(params.state or "") > LONGEST_STATE:
            raise sdk.AuthorizeError("invalid_request", f"state is longer than {LONGEST_STATE} characters")
        described = documents.is_document_url(client.client_id)
        request = assistants.AuthorizationRequest(
            client_id=client.client_id,
            name=client.client_name or "",
            host=redirects.host(client.client_id if described else redirect_uri),
            redirect_uri=redirect_uri,
            scopes=tuple(Scope(scope) for scope in params.scopes or ()),
            resource=resource,
            code_challenge=params.code_challenge,
            state=params.state,
        )
        sealed = redirects.seal(request, self.settings.sealer(), at=self.clock())
        return f"{self.settings.base_url}{CONSENT}{sealed}"

    async def load_authorization_code(self, _client: Client, authorization_code: str) -> sdk.AuthorizationCode | None:
        """Return the grant of a code, also of a used one: `exchange` detects the second use."""
        grant = await self.storage.read(assistants.get_grant, authorization_code, assistants.CODE, at=self.clock())
        return grant and sdk.AuthorizationCode(
            code=authorization_code,
            scopes=grant.scopes.split(),
            expires_at=math.inf,
            client_id=grant.client_id,
            code_challenge=grant.code_challenge,
            redirect_uri=AnyUrl(grant.redirect_uri),
            redirect_uri_provided_explicitly=True,
            resource=grant.resource,
            subject=grant.email,
        )

    async def exchange_authorization_code(self, client: Client, code: sdk.AuthorizationCode) -> OAuthToken:
        """Return the first pair of tokens. A code that was used raises TokenError and disconnects the assistant."""
        return await self._exchange(code.code, assistants.CODE, client, READING)

    async def load_refresh_token(self, _: Client, refresh_token: str) -> sdk.RefreshToken | None:
        """Return the grant of a refresh token, also of a used one."""
        grant = await self.storage.read(assistants.get_grant, refresh_token, assistants.REFRESH, at=self.clock())
        return grant and sdk.RefreshToken(token=refresh_token, client_id=grant.client_id, scopes=grant.scopes.split())

    async def exchange_refresh_token(self, client: Client, token: sdk.RefreshToken, scopes: list[str]) -> OAuthToken:
        """Return the next pair of tokens. A token that was used raises TokenError and disconnects the assistant."""
        return await self._exchange(token.token, assistants.REFRESH, client, scopes)

    async def _exchange(self, token: str, kind: str, client: Client, scopes: Sequence[str]) -> OAuthToken:
        about: dict[str, Any] = {"client_id": client.client_id, "scopes": scopes, "at": self.clock()}
        tokens = await self.storage.write(assistants.exchange, token, kind, **about)
        if tokens is None:
            raise sdk.TokenError("invalid_grant", "It was used before, has expired, or was revoked; connect again.")
        return OAuthToken(
            access_token=tokens.access,
            refresh_token=tokens.refresh,
            expires_in=int(assistants.ACCESS_LIFETIME.total_seconds()),
            scope=" ".join(tokens.scopes),
        )


def is_resource(sent: str | None, resource: str) -> bool:
    """Return whether a token is requested for this resource, by any name of it; clients before RFC 8707 send none."""
    path = urlsplit(resource).path
    base_url = resource.removesuffix(path)
    host = urlsplit(sent or "").netloc
    return sent is None or sent.removesuffix("/") in {resource, f"{called(base_url, host)}{path}"}
