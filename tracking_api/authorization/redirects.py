"""Redirect URLs, and authorization requests, which a member's browser carries sealed to the consent page and back."""

import re
from datetime import datetime, timedelta
from urllib.parse import SplitResult, parse_qsl, urlencode, urlsplit, urlunsplit

from storage.access.assistants import AuthorizationRequest
from storage.engine.sealing import Sealer
from storage.rules.errors import NotFound
from storage.rules.scope import Scope
from web.client import LOOPBACK

LIFETIME = timedelta(minutes=20)  # enough time to look up a password
PURPOSE = "authorization request"
LONGEST = 1024
_NETLOC = re.compile(r"[A-Za-z0-9.:\[\]_-]*")  # no user, and no character that separates values in a header
# Applications in which assistants run, by the scheme that each registered for itself.
APPLICATIONS = {
    *("chatgpt", "claude", "codex", "cursor", "goose", "jetbrains", "lmstudio", "raycast", "vscode", "vscode-insiders"),
    *("vscodium", "warp", "windsurf", "zed"),
}
# A private-use scheme is a domain name written backwards (RFC 8252, 7.1).
_PRIVATE_USE = re.compile(r"(?:ai|app|co|com|dev|io|net|org)(?:\.[a-z0-9-]+){1,5}")


def is_acceptable(uri: str) -> bool:
    """Return whether a client may register this: https, http to this machine, or the scheme of a known application."""
    parts = parts_of(uri)
    if parts is None or "#" in uri or len(uri) > LONGEST or not _NETLOC.fullmatch(parts.netloc):
        return False
    if parts.scheme == "https":
        return bool(parts.hostname)
    if parts.scheme == "http":
        return parts.hostname in LOOPBACK
    return parts.scheme in APPLICATIONS or bool(_PRIVATE_USE.fullmatch(parts.scheme))


def matches(registered: str, asked: str) -> bool:
    """Return whether the asked URL is the registered one; a loopback URL may have any port (RFC 8252, 7.3)."""
    return registered == asked or (is_loopback(registered) and _without_port(registered) == _without_port(asked))


def is_loopback(uri: str) -> bool:
    """Return whether a response to this URL stays on the client's machine."""
    parts = parts_of(uri)
    return parts is not None and parts.scheme == "http" and parts.hostname in LOOPBACK


def origin(uri: str) -> str:
    """Return the source of an acceptable URL in a Content-Security-Policy: `https://host`, or `scheme:`."""
    parts = urlsplit(uri)
    return f"{parts.scheme}://{parts.netloc}" if parts.scheme in {"http", "https"} else f"{parts.scheme}:"


def host(uri: str) -> str:
    """Return the target of an acceptable URL to show to people: its host, or an application's scheme."""
    parts = urlsplit(uri)
    return parts.hostname or "" if parts.scheme in {"http", "https"} else f"{parts.scheme}:"


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
    return sealer.seal_until(at + LIFETIME, PURPOSE, request._asdict())


def unseal(sealed: str, sealer: Sealer, *, at: datetime) -> AuthorizationRequest:
    """Return the request. Raises NotFound if it was not sealed here, or has expired."""
    values = sealer.open_until(at, PURPOSE, sealed)
    if values is None:
        hint = "Go back to your assistant and connect it again."
        raise NotFound("This request has expired, or was not created by this service.", hint=hint)
    return AuthorizationRequest(**values[0] | {"scopes": tuple(map(Scope, values[0]["scopes"]))})


def parts_of(uri: str) -> SplitResult | None:
    """Return the parts of a URL in ASCII, None for a text that is none."""
    if not uri.isascii() or not uri.isprintable() or " " in uri:
        return None
    try:
        parts = urlsplit(uri)
        _ = parts.port
    except ValueError:
        return None
    return parts if parts.scheme else None


def _without_port(uri: str) -> tuple[str | None, ...]:
    parts = parts_of(uri)
    return () if parts is None else (parts.scheme, parts.hostname, parts.path, parts.query, parts.username)
