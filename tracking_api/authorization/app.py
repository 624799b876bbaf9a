"""The authorization server: its routes, and its endpoints: the SDK's handlers with our limits and further checks."""

import json
from collections.abc import Awaitable, Callable
from datetime import datetime
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from mcp.server.auth.handlers.authorize import AuthorizationHandler
from mcp.server.auth.handlers.metadata import MetadataHandler, ProtectedResourceMetadataHandler
from mcp.server.auth.handlers.register import RegistrationHandler
from mcp.server.auth.handlers.token import TokenHandler
from mcp.server.auth.middleware.client_auth import ClientAuthenticator
from mcp.server.auth.routes import build_metadata, cors_middleware
from mcp.server.auth.settings import ClientRegistrationOptions, RevocationOptions
from mcp.shared.auth import ProtectedResourceMetadata
from pydantic import AnyHttpUrl, ConfigDict, TypeAdapter
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from configuration import Configuration
from storage import Storage
from storage.access import assistants
from storage.rules.scope import READING
from tracking_api.authorization.documents import DocumentRejectedError, Documents, is_document_url
from tracking_api.authorization.provider import CONSENT, Provider, is_resource
from tracking_api.authorization.redirects import with_query
from tracking_api.dashboard.pages.page import HANDLERS
from tracking_api.dashboard.pages.templates import environment
from web import body
from web.app import now, with_state
from web.client import called
from web.counts import Counts
from web.limits import RateLimits, client_of
from web.response import accepts_html

# An issuer is compared character by character (RFC 8414, 3.3).
AS_WRITTEN = TypeAdapter(AnyHttpUrl, config=ConfigDict(url_preserve_empty_path=True))
PATHS = ("/.well-known/oauth-", "/authorize", "/token", "/register", "/revoke")
FRESH = {"Cache-Control": "no-store"}
NOTHING = "default-src 'none'; frame-ancestors 'none'"


def create(
    storage: Storage, settings: Configuration, counts: Counts, *, clock: Callable[[], datetime] = now
) -> Starlette:
    """Return the authorization server over an open storage; `clock` gives every request its time."""
    issuer = AS_WRITTEN.validate_python(settings.base_url)
    registration = ClientRegistrationOptions(enabled=True, valid_scopes=list(READING))
    metadata = build_metadata(issuer, None, registration, RevocationOptions(enabled=True))
    metadata.token_endpoint_auth_methods_supported = ["none"]
    metadata.revocation_endpoint_auth_methods_supported = ["none"]
    metadata.client_id_metadata_document_supported = True
    metadata.authorization_response_iss_parameter_supported = True
    routes = [
        _route("/.well-known/oauth-authorization-server", MetadataHandler(metadata).handle, "GET"),
        _route("/.well-known/oauth-protected-resource/mcp", resource, "GET"),
        # for clients that do not append the resource's path
        _route("/.well-known/oauth-protected-resource", resource, "GET"),
        Route("/authorize", authorize, methods=["GET"]),
        _route("/token", token, "POST"),
        _route("/register", register, "POST"),
        _route("/revoke", revoke, "POST"),
    ]
    limited = ("registration", "authorization", "token")
    rates = {name: settings.limited(getattr(settings, f"{name}_rate")) for name in limited}
    return with_state(
        Starlette(routes=routes, exception_handlers=HANDLERS),
        storage=storage,
        settings=settings,
        clock=clock,
        provider=Provider(storage, settings, Documents(settings.private_client_hosts), clock),
        limits=RateLimits(rates, counts),
    )


def _route(path: str, handler: Callable[[Request], Awaitable[Response]], method: str) -> Route:
    methods = [method, "OPTIONS"]
    return Route(path, cors_middleware(handler, methods), methods=methods)


async def resource(request: Request) -> Response:
    """Return the resource's URL, under the name that the client used, and its authorization server (RFC 9728)."""
    base_url = request.app.state.settings.base_url
    metadata = ProtectedResourceMetadata(
        resource=AnyHttpUrl(f"{called(base_url, request.headers.get('host', ''))}/mcp"),
        authorization_servers=[base_url],
        scopes_supported=list(READING),
        resource_name="Affiliate tracking",
    )
    return await ProtectedResourceMetadataHandler(metadata).handle(request)


async def authorize(request: Request) -> Response:
    """Check a request and redirect the browser to the consent page, or with an error to the client's valid URL."""
    state = request.app.state
    client_id = request.query_params.get("client_id", "")
    await state.limits.hit("authorization", client_of(request.scope))
    try:
        await state.provider.fetch_client(client_id)
    except DocumentRejectedError as rejection:
        response = _error("invalid_client", f"The document at client_id was rejected: {rejection}.")
    else:
        response = _trusted(await AuthorizationHandler(state.provider).handle(request), client_id, state.settings)
    is_page = response.status_code == HTTPStatus.BAD_REQUEST and accepts_html(request.scope)
    return _page(response) if is_page else response


async def token(request: Request) -> Response:
    """Exchange a code or a refresh token for a pair of tokens for this resource."""
    complete = await _read(request, "token", body.FORM)
    settings: Configuration = request.app.state.settings
    if not all(is_resource(str(sent), settings.mcp_url) for sent in (await complete.form()).getlist("resource")):
        return _error("invalid_target", f"resource is not {settings.mcp_url}")
    provider: Any = request.app.state.provider
    response: Response = await TokenHandler(provider, ClientAuthenticator(provider)).handle(complete)
    return response


async def register(request: Request) -> Response:
    """Register a public client (RFC 7591)."""
    complete = await _read(request, "registration", body.JSON)
    handler = RegistrationHandler(request.app.state.provider, ClientRegistrationOptions(enabled=True))
    return await handler.handle(complete)


async def revoke(request: Request) -> Response:
    """Disconnect a token's assistant (RFC 7009), known or not; the SDK's handler requires a client_secret."""
    sent = await (await _read(request, "token", body.FORM)).form()
    revoked = str(sent.get("token", ""))
    client_id = str(sent.get("client_id", ""))
    if not (revoked and client_id):
        return _error("invalid_request", "token and client_id are required")
    state = request.app.state
    await state.storage.write(assistants.revoke, revoked, client_id=client_id, at=state.clock())
    return Response(headers=FRESH)


def _trusted(response: Response, client_id: str, settings: Configuration) -> Response:
    """Return the response to a request: a fault of a client that registered itself stays here (RFC 9700, 4.11.2).

    Anyone can register a URL, so a redirect without the person's consent would lead anywhere in this service's name.
    A client with a document gets the error, with the issuer (RFC 9207, 2); the consent page adds it otherwise.
    """
    location = response.headers.get("location", f"{settings.base_url}{CONSENT}")
    if location.startswith(f"{settings.base_url}{CONSENT}"):
        return response
    if not is_document_url(client_id):
        fault = dict(parse_qsl(urlsplit(location).query))
        return _error(fault.get("error", "invalid_request"), fault.get("error_description", "The request is faulty."))
    response.headers["location"] = with_query(location, iss=settings.base_url)
    return response


def _page(rejection: Response) -> Response:
    """Return an error that cannot be sent to the client as a page for the person at the browser."""
    html = environment.get_template("not_connected.html").render(
        message=json.loads(bytes(rejection.body))["error_description"]
    )
    headers = {**FRESH, "Content-Security-Policy": NOTHING}
    return HTMLResponse(html, HTTPStatus.BAD_REQUEST, headers)


def _error(error: str, description: str) -> Response:
    return JSONResponse({"error": error, "error_description": description}, HTTPStatus.BAD_REQUEST, FRESH)


async def _read(request: Request, call: str, media_type: str) -> Request:
    """Return a request of a kind with its whole body, for the SDK's handlers to read again. Raises RateLimited."""
    await request.app.state.limits.hit(call, client_of(request.scope))
    seconds = request.app.state.settings.body_seconds
    content = await body.read_body(request.scope, request.receive, media_type=media_type, seconds=seconds)
    return Request(request.scope, body.replay(bytes(content), request.receive))
