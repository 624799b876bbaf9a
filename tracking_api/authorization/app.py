"""The route table of the authorization server: read this first."""

from collections.abc import Callable
from datetime import datetime

from mcp.server.auth.handlers.metadata import MetadataHandler
from mcp.server.auth.routes import build_metadata, cors_middleware
from mcp.server.auth.settings import ClientRegistrationOptions, RevocationOptions
from pydantic import AnyHttpUrl, ConfigDict, TypeAdapter
from starlette.applications import Starlette
from starlette.routing import Route

from configuration import Configuration
from storage import Storage
from storage.rules.scope import READING
from tracking_api.authorization import endpoints
from tracking_api.authorization.clients import Clients
from tracking_api.authorization.documents import Documents
from tracking_api.authorization.provider import Provider
from tracking_api.dashboard.pages.error_pages import HANDLERS
from web.app import now, with_state
from web.counts import Counts
from web.limits import RateLimits

METADATA = "/.well-known/oauth-authorization-server"
PROTECTED = "/.well-known/oauth-protected-resource"
# An issuer is compared character by character (RFC 8414, 3.3).
AS_WRITTEN = TypeAdapter(AnyHttpUrl, config=ConfigDict(url_preserve_empty_path=True))
PATHS = ("/.well-known/oauth-", "/authorize", "/token", "/register", "/revoke")


def create(
    storage: Storage,
    settings: Configuration,
    counts: Counts,
    *,
    clock: Callable[[], datetime] = now,
) -> Starlette:
    """Return the authorization server over an open storage; `clock` gives every request its time."""
    clients = Clients(storage, Documents(settings.private_client_hosts))
    rates = {
        "register": settings.limited(settings.registration_rate),
        "authorize": settings.limited(settings.authorization_rate),
        "token": settings.limited(settings.token_rate),
    }
    return with_state(
        Starlette(routes=_routes(settings), exception_handlers=HANDLERS),
        storage=storage,
        settings=settings,
        clock=clock,
        clients=clients,
        provider=Provider(storage, clients, settings, clock=clock),
        limits=RateLimits(rates, counts),
    )


def _routes(settings: Configuration) -> list[Route]:
    issuer = AS_WRITTEN.validate_python(settings.base_url)
    protected = cors_middleware(endpoints.resource, ["GET", "OPTIONS"])
    registration = ClientRegistrationOptions(enabled=True, valid_scopes=list(READING))
    metadata = build_metadata(issuer, None, registration, RevocationOptions(enabled=True))
    metadata.token_endpoint_auth_methods_supported = ["none"]
    metadata.revocation_endpoint_auth_methods_supported = ["none"]
    metadata.client_id_metadata_document_supported = True
    metadata.authorization_response_iss_parameter_supported = True
    return [
        Route(METADATA, cors_middleware(MetadataHandler(metadata).handle, ["GET", "OPTIONS"])),
        Route(f"{PROTECTED}/mcp", protected),
        Route(PROTECTED, protected),  # for clients that do not append the resource's path
        Route("/authorize", endpoints.authorize, methods=["GET"]),
        Route("/token", cors_middleware(endpoints.token, ["POST", "OPTIONS"]), methods=["POST", "OPTIONS"]),
        Route("/register", cors_middleware(endpoints.register, ["POST", "OPTIONS"]), methods=["POST", "OPTIONS"]),
        Route("/revoke", cors_middleware(endpoints.revoke, ["POST", "OPTIONS"]), methods=["POST", "OPTIONS"]),
    ]
