"""The route table of the authorization server: read this first."""

from collections.abc import Awaitable, Callable
from datetime import datetime

from mcp.server.auth.handlers.metadata import MetadataHandler
from mcp.server.auth.routes import build_metadata, cors_middleware
from mcp.server.auth.settings import ClientRegistrationOptions, RevocationOptions
from pydantic import AnyHttpUrl, ConfigDict, TypeAdapter
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from configuration import Configuration
from storage import Storage
from storage.rules.scope import READING
from tracking_api.authorization import endpoints
from tracking_api.authorization.documents import Documents
from tracking_api.authorization.provider import Provider
from tracking_api.dashboard.pages.page import HANDLERS
from web.app import now, with_state
from web.counts import Counts
from web.limits import RateLimits

# An issuer is compared character by character (RFC 8414, 3.3).
AS_WRITTEN = TypeAdapter(AnyHttpUrl, config=ConfigDict(url_preserve_empty_path=True))
LIMITED = ("registration", "authorization", "token")
PATHS = ("/.well-known/oauth-", "/authorize", "/token", "/register", "/revoke")


def create(
    storage: Storage, settings: Configuration, counts: Counts, *, clock: Callable[[], datetime] = now
) -> Starlette:
    """Return the authorization server over an open storage; `clock` gives every request its time."""
    rates = {name: settings.limited(getattr(settings, f"{name}_rate")) for name in LIMITED}
    return with_state(
        Starlette(routes=_routes(settings), exception_handlers=HANDLERS),
        storage=storage,
        settings=settings,
        clock=clock,
        provider=Provider(storage, settings, Documents(settings.private_client_hosts), clock),
        limits=RateLimits(rates, counts),
    )


def _routes(settings: Configuration) -> list[Route]:
    issuer = AS_WRITTEN.validate_python(settings.base_url)
    registration = ClientRegistrationOptions(enabled=True, valid_scopes=list(READING))
    metadata = build_metadata(issuer, None, registration, RevocationOptions(enabled=True))
    metadata.token_endpoint_auth_methods_supported = ["none"]
    metadata.revocation_endpoint_auth_methods_supported = ["none"]
    metadata.client_id_metadata_document_supported = True
    metadata.authorization_response_iss_parameter_supported = True
    return [
        _route("/.well-known/oauth-authorization-server", MetadataHandler(metadata).handle, "GET"),
        _route("/.well-known/oauth-protected-resource/mcp", endpoints.resource, "GET"),
        # for clients that do not append the resource's path
        _route("/.well-known/oauth-protected-resource", endpoints.resource, "GET"),
        Route("/authorize", endpoints.authorize, methods=["GET"]),
        _route("/token", endpoints.token, "POST"),
        _route("/register", endpoints.register, "POST"),
        _route("/revoke", endpoints.revoke, "POST"),
    ]


def _route(path: str, handler: Callable[[Request], Awaitable[Response]], method: str) -> Route:
    """Return a route that pages of other sites may call."""
    methods = [method, "OPTIONS"]
    return Route(path, cors_middleware(handler, methods), methods=methods)
